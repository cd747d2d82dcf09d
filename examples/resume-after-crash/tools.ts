/** The agent's tools: they read the files of this example. */
import { readdir, readFile } from "node:fs/promises"
import type { Tool } from "./agent.ts"

const here = new URL(".", import.meta.url)

export const tools: Readonly<Record<string, Tool>> = {
  ls: async () => (await readdir(here)).filter((name) => name !== "node_modules").join("\n"),
  read: async ({ path }) => await readText(path),
  count_words: async ({ path }) => `${(await readText(path)).split(/\s+/).length} words in ${String(path)}`,
}

function readText(path: unknown): Promise<string> {
  return readFile(new URL(String(path), here), "utf8")
}
