const names = new Set(["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token"]);
const words = new Set(["password", "passwd", "pwd", "token", "secret", "credential", "credentials", "apikey"]);

/** True when a header of this name usually carries a secret. */
export function isSecretHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return names.has(lower) || lower.split(/[-_.:]/).some((word) => words.has(word));
}
