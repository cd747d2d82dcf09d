/** Values that another program has nested deeper than this runtime can write. */
import { expect, test } from "vitest"
import { chain, header, jsonl, message, TIME } from "./logs.ts"
import { createWorkspace } from "./workspace.ts"

const DEEP = `${"[".repeat(20_000)}${"]".repeat(20_000)}`

test.each([
  "list --json",
  "show deep",
  "show deep --json",
  "context deep",
  "context deep --json",
  "tree deep",
  "tree deep --json",
  "export deep",
  "export deep --format html",
  "export deep --format markdown",
  "verify deep",
  "doctor",
])("%s succeeds", async (command) => {
  const workspace = createWorkspace()
  const call = [{ type: "toolCall", id: "1", name: "t", arguments: { a: "DEEP" } }]
  const lines = [
    ...chain(1),
    JSON.stringify({ type: "metadata", id: "k", parentId: "m1", seq: 2, timestamp: TIME, key: "k", value: "DEEP" }),
    message("m3", "k", 3, "", { message: { role: "assistant", content: call } }),
  ]
  const content = jsonl(header("deep"), ...lines).replaceAll('"DEEP"', DEEP)
  workspace.writeLog("deep", { from: 0, content })
  const { exit, stderr } = await workspace.cli(...command.split(" "))
  expect([exit, stderr]).toEqual([0, ""])
})
