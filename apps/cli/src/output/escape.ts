// C0, DEL, C1, line and paragraph separators, and the marks that reorder text on a screen.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
// Greedy up to the last `@` of the authority: a password may hold one.
const userInfo = /([a-z][a-z0-9+.-]*:\/\/)[^\s/]*@/gi;

/** Makes text safe for one line of a terminal or a log: controls become visible escapes (FW-OBS-04). */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Takes user names and passwords out of every URL in a text; the last guard, behind errors that hold none. */
export function redactUserInfo(text: string): string {
  return text.replace(userInfo, "$1[redacted]@");
}

/** Shortens a text to a number of characters and says how many are missing. */
export function cap(text: string, maximum: number): string {
  return text.length <= maximum ? text : `${text.slice(0, maximum)}…(+${text.length - maximum})`;
}

/** Any text as one safe line: no control, no login of a URL, at most `maximum` characters and a mark. */
export function oneLine(text: string, maximum = 2000): string {
  return cap(escapeControls(redactUserInfo(text)), maximum);
}
