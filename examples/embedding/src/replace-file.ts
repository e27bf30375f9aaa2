import { constants } from "node:fs";
import { open, rename } from "node:fs/promises";
import path from "node:path";

/** Puts a text in place of a file at once and durably: after a crash there is the old text or the new one, whole. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  {
    await using handle = await open(temporary, "w");
    await handle.writeFile(text);
    await handle.sync();
  }
  await rename(temporary, file);
  await using folder = await open(path.dirname(file), constants.O_RDONLY | constants.O_DIRECTORY);
  await folder.sync();
}
