import { expect, test } from "vitest"
import { startChild } from "./child-process.ts"
import { log } from "./logs.ts"
import { makePlace } from "./workspace.ts"

const WRITER = new URL("./writer-process.ts", import.meta.url)
const ROUNDS = 20

test("killed twenty times in the middle of its appends, a writer loses nothing it was told is stored", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  await place.cli("import", "in.jsonl", "--id", "hunted")
  const acknowledged: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const child = startChild(WRITER, place.store, "hunted", "appends", `r${round}`, "100000")
    // In each round elsewhere: the first at once, later ones with the lock given back or a part just begun.
    for (let n = 0; n <= (round * 7) % 40; n++) acknowledged.push((await child.line()) ?? "")
    child.kill()
    acknowledged.push(...(await child.rest()))
  }
  const lines = place.log("hunted").toString().split("\n")
  const stored = lines.slice(0, -1).map((line) => (JSON.parse(line) as { id: string }).id)
  const counts = new Map<string, number>()
  for (const id of stored) counts.set(id, (counts.get(id) ?? 0) + 1)
  expect(acknowledged.length).toBeGreaterThan(ROUNDS)
  expect(acknowledged.filter((id) => counts.get(id) !== 1)).toEqual([])

  // The next one goes on, and then all is whole.
  const last = startChild(WRITER, place.store, "hunted", "appends", "last", "3")
  expect((await last.rest()).length).toBe(3)
  const verified = await place.cli("verify", "hunted")
  expect(verified, verified.stdout).toMatchObject({ exit: 0 })
  const context = JSON.parse((await place.cli("context", "hunted", "--json", "--repair", "none")).stdout) as {
    messages: { entryId: string }[]
  }
  const inContext = new Set(context.messages.map(({ entryId }) => entryId))
  expect(acknowledged.filter((id) => !inContext.has(id))).toEqual([])
  const listed = JSON.parse((await place.cli("list", "--json")).stdout) as { sessions: { messageCount: number }[] }
  expect(listed.sessions[0]?.messageCount).toBe(context.messages.length)
})
