import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

/** The client's side of one SCRAM-SHA-256 login without channel binding (RFC 5802). */
export interface ScramLogin {
  readonly first: string;
  /** The answer to the server's first message. */
  final(serverFirst: string): string;
}

/** Begins a login; the server takes the user's name from the connection. */
export function scramLogin(password: string): ScramLogin {
  const bare = `n=*,r=${randomBytes(18).toString("base64")}`;
  return {
    first: `n,,${bare}`,
    final(serverFirst) {
      const fields = new Map(serverFirst.split(",").map((field) => [field.charAt(0), field.slice(2)]));
      const salt = Buffer.from(fields.get("s") ?? "", "base64");
      const salted = pbkdf2Sync(password.normalize("NFKC"), salt, Number(fields.get("i")), 32, "sha256");
      const key = hmac(salted, "Client Key");
      const unproved = `c=biws,r=${fields.get("r")}`;
      const signature = hmac(createHash("sha256").update(key).digest(), `${bare},${serverFirst},${unproved}`);
      const proof = Buffer.from(key.map((byte, index) => byte ^ (signature[index] as number)));
      return `${unproved},p=${proof.toString("base64")}`;
    },
  };
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
