import { connect, type Socket } from "node:net";
import { type ScramLogin, scramLogin } from "./postgres-scram.js";

/** Runs one simple query over a connection of its own, without TLS: all that a launcher needs of a driver. */
export async function postgresQuery(url: string, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port || 5432) });
  socket.setTimeout(5_000, () => socket.destroy(new Error("PostgreSQL did not answer in time")));
  const user = decodeURIComponent(username);
  socket.write(startup({ user, database: decodeURIComponent(pathname.slice(1)) || user }));
  const authenticate = authentication(socket, decodeURIComponent(password));
  const rows: (string | null)[][] = [];
  let asked = false;
  try {
    for await (const { type, body } of messages(socket)) {
      if (type === "R") authenticate(body);
      else if (type === "D") rows.push(columns(body));
      else if (type === "E") throw new Error(`PostgreSQL: ${errorMessage(body)}`);
      else if (type === "Z" && asked) return rows;
      else if (type === "Z") {
        asked = true;
        socket.write(message("Q", text(sql)));
      }
    }
    throw new Error("PostgreSQL closed the connection");
  } finally {
    socket.end(message("X", Buffer.alloc(0)));
    socket.destroySoon();
  }
}

/** Version of the server, by its own word. */
export async function postgresVersion(url: string): Promise<string> {
  return (await postgresQuery(url, "SHOW server_version"))[0]?.[0]?.split(" ")[0] ?? "unknown";
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function startup(parameters: Readonly<Record<string, string>>): Buffer {
  const version = Buffer.from([0, 3, 0, 0]);
  const body = Buffer.concat([version, ...Object.entries(parameters).flat().map(text), Buffer.from([0])]);
  return message(" ", body).subarray(1);
}

async function* messages(socket: Socket): AsyncGenerator<{ type: string; body: Buffer }> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk as Buffer]);
    while (pending.length >= 5) {
      const end = 1 + pending.readInt32BE(1);
      if (pending.length < end) break;
      yield { type: pending.toString("latin1", 0, 1), body: pending.subarray(5, end) };
      pending = pending.subarray(end);
    }
  }
}

function authentication(socket: Socket, password: string): (body: Buffer) => void {
  let scram: ScramLogin | null = null;
  return (body) => {
    const kind = body.readInt32BE(0);
    if (kind === 3) socket.write(message("p", text(password)));
    else if (kind === 10) {
      scram = scramLogin(password);
      const size = Buffer.alloc(4);
      size.writeInt32BE(scram.first.length);
      socket.write(message("p", Buffer.concat([text("SCRAM-SHA-256"), size, Buffer.from(scram.first)])));
    } else if (kind === 11 && scram !== null) {
      socket.write(message("p", Buffer.from(scram.final(body.toString("utf8", 4)))));
    } else if (kind !== 0 && kind !== 12)
      throw new Error(`PostgreSQL asks for an authentication of kind ${kind}, which the launcher does not know`);
  };
}

function columns(body: Buffer): (string | null)[] {
  let offset = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(offset);
    offset += 4 + Math.max(0, length);
    return length < 0 ? null : body.toString("utf8", offset - length, offset);
  });
}

function errorMessage(body: Buffer): string {
  const fields = body.toString("utf8").split("\0");
  return fields.find((field) => field.startsWith("M"))?.slice(1) ?? "an error without a message";
}
