import { mkdir, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { runCommand } from "./run-command.js";

/** PEM files of an own authority and of one certificate that it signed, good for a server and for a client. */
export interface CertificateFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Makes an authority and a certificate for `names` (host names and addresses) in a new folder, by `openssl`. */
export async function makeCertificate(folder: string, names: readonly string[]): Promise<CertificateFiles> {
  await mkdir(folder, { mode: 0o700 });
  const alternatives = names.map((name) => (isIP(name) === 0 ? `DNS:${name}` : `IP:${name}`)).join(",");
  await writeFile(join(folder, "extensions"), `subjectAltName=${alternatives}\nextendedKeyUsage=serverAuth,clientAuth\n`);
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const ca = ["-days", "3650", "-subj", "/CN=sinks test authority", "-addext", "basicConstraints=critical,CA:TRUE"];
  await openssl(folder, "req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", ...ca);
  await openssl(folder, "req", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=sinks test");
  const signer = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "3650", "-extfile", "extensions"];
  await openssl(folder, "x509", "-req", "-in", "server.csr", ...signer, "-out", "server.crt");
  return { caFile: join(folder, "ca.crt"), certFile: join(folder, "server.crt"), keyFile: join(folder, "server.key") };
}

async function openssl(folder: string, ...args: string[]): Promise<void> {
  const { succeeded, reason } = await runCommand("openssl", args, { timeoutMs: 30_000, directory: folder });
  if (!succeeded) throw new Error(reason);
}
