import { expect, test } from "vitest";
import { startPostgresContainer } from "../src/service/postgres-container.js";
import { brokenContainer } from "./broken-container.js";

test("a container is asked for with its settings, and its failure is the launch's", async () => {
  const broken = brokenContainer();
  await expect(startPostgresContainer("postgres:test", { settings: { work_mem: "5MB" } }, broken.library)).rejects.toThrow("no such image");
  expect(broken.asked).toEqual([
    "postgres:test",
    { POSTGRES_HOST_AUTH_METHOD: "trust" },
    ["postgres", "-c", "fsync=off", "-c", "work_mem=5MB"],
  ]);
});

test.each([{ password: "p" }, { tls: true }, { accessRules: [] }])("a container cannot do %j, and says so", async (options) => {
  await expect(startPostgresContainer("postgres:test", options, brokenContainer().library)).rejects.toThrow(
    /need a PostgreSQL on this machine/,
  );
});
