/** The agent's tools: they read the files of this example, and charge. */
import { readdir, readFile } from "node:fs/promises"
import type { Execute, ToolCallsOptions } from "@sessions/tool-calls"
import type { Bank } from "./bank.ts"

const here = new URL(".", import.meta.url)

export function createTools(bank: Bank): Readonly<Record<string, Execute>> {
  return {
    ls: async () => (await readdir(here)).filter((name) => name !== "node_modules").join("\n"),
    read: ({ arguments: { path } }) => readFile(new URL(String(path), here), "utf8"),
    // The bank charges once under the key, which is the same in every attempt and process.
    charge: ({ key, arguments: { amount } }) => bank.charge(key, Number(amount)),
  }
}

/** A charge must not be repeated. Of one whose process was killed the bank knows whether it was made. */
export function createCalls(bank: Bank): ToolCallsOptions {
  return {
    tools: { ls: "safe", read: "safe", charge: "never" },
    onUnknown: async ({ key = "" }) => {
      const receipt = await bank.find(key)
      return receipt === undefined ? "not done" : { output: receipt }
    },
  }
}
