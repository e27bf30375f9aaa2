import type { Options } from "tsup";

/** Sources of everything that a manifest's `exports` and `bin` point to. */
export declare function entries(manifest: { exports?: object; bin?: Record<string, string> }): string[];

/** Build settings of the package in `directory`: ESM, one file per door, source maps, declarations when a door has types. */
export declare function preset(directory: string): Options;
