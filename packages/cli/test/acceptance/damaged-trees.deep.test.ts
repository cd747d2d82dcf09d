import { expect, test } from "vitest"
import { header, jsonl, message as m } from "./logs.ts"
import { createWorkspace } from "./workspace.ts"

test("a very deep chain and a very wide tree overflow neither stack nor memory", async () => {
  const workspace = createWorkspace()
  const count = 20_000
  const deep = Array.from({ length: count }, (_, i) => m(`d${i}`, i === 0 ? null : `d${i - 1}`, i + 1, "x"))
  const wide = Array.from({ length: count }, (_, i) => m(`w${i}`, i === 0 ? null : "w0", i + 1, "x"))
  workspace.writeLog("deep", { from: 0, content: jsonl(header("deep"), ...deep) })
  workspace.writeLog("wide", { from: 0, content: jsonl(header("wide"), ...wide) })
  for (const id of ["deep", "wide"]) {
    for (const argv of [
      ["context", id],
      ["tree", id, "--short"],
      ["show", id, "--last", "3"],
      ["verify", id],
    ]) {
      const result = await workspace.cli(...argv)
      expect(result.exit, `${argv.join(" ")}: ${result.stderr}`).toBe(0)
    }
  }
})
