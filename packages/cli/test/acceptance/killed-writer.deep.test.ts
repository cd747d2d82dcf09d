import { expect, test } from "vitest"
import { startChild } from "./child-process.ts"
import { log } from "./logs.ts"
import { createWorkspace } from "./workspace.ts"

const WRITER = new URL("./writer-process.ts", import.meta.url)
const ROUNDS = 20

test("a writer that is killed twenty times during appends loses no acknowledged entry", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  await workspace.cli("import", "in.jsonl", "--id", "killed")
  const acknowledged: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const child = startChild(WRITER, workspace.store, "killed", "appends", `r${round}`, "100000")
    // Killed at a different point in each round, also while the lock is released or a part is started.
    for (let n = 0; n <= (round * 7) % 40; n++) acknowledged.push((await child.line()) ?? "")
    child.kill()
    acknowledged.push(...(await child.rest()))
  }
  const lines = workspace.log("killed").toString().split("\n")
  const stored = lines.slice(0, -1).map((line) => (JSON.parse(line) as { id: string }).id)
  const counts = new Map<string, number>()
  for (const id of stored) counts.set(id, (counts.get(id) ?? 0) + 1)
  expect(acknowledged.length).toBeGreaterThan(ROUNDS)
  expect(acknowledged.filter((id) => counts.get(id) !== 1)).toEqual([])

  // Another writer continues, and the log is undamaged.
  const last = startChild(WRITER, workspace.store, "killed", "appends", "last", "3")
  expect((await last.rest()).length).toBe(3)
  const verified = await workspace.cli("verify", "killed")
  expect(verified, verified.stdout).toMatchObject({ exit: 0 })
  const context = JSON.parse((await workspace.cli("context", "killed", "--json", "--repair", "none")).stdout) as {
    messages: { entryId: string }[]
  }
  const inContext = new Set(context.messages.map(({ entryId }) => entryId))
  expect(acknowledged.filter((id) => !inContext.has(id))).toEqual([])
  const listed = JSON.parse((await workspace.cli("list", "--json")).stdout) as { sessions: { messageCount: number }[] }
  expect(listed.sessions[0]?.messageCount).toBe(context.messages.length)
})
