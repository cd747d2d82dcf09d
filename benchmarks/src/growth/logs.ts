/** Logs of one kind of entry, as text: a chain, one with many branches, one with many tombstones. */
import { FORMAT, VERSION } from "@sessions/core/format"
import { words } from "../data.ts"

export type Kind = "entries" | "branches" | "tombstones"

/** How many lines are yielded at a time. */
const AT_ONCE = 1_000

/** A log with `count` of its kind: `import` writes it far faster than appends would. */
export async function* logText(kind: Kind, count: number): AsyncGenerator<string, void, undefined> {
  let text = `${JSON.stringify({ type: "session", format: FORMAT, version: VERSION, id: kind, timestamp: timeOf(0) })}\n`
  let lines = 0
  for (const entry of LOGS[kind](count)) {
    text += `${JSON.stringify(entry)}\n`
    if (++lines % AT_ONCE > 0) continue
    yield text
    text = ""
  }
  yield text
}

const LOGS: Readonly<Record<Kind, (count: number) => Generator<object, void, undefined>>> = {
  *entries(count) {
    for (let n = 1; n <= count; n++) yield message(n, n - 1)
  },
  /** Each prompt is asked twice, and the answer is to the second one: three lines a branch. */
  *branches(count) {
    for (let n = 1; n <= 3 * count; n += 3) {
      yield message(n, n - 1)
      yield message(n + 1, n - 1)
      yield message(n + 2, n + 1)
    }
  },
  /** Of two messages the first one is deleted: three lines a tombstone. */
  *tombstones(count) {
    for (let n = 1; n <= 3 * count; n += 3) {
      yield message(n, n - 1)
      yield message(n + 1, n)
      yield { ...place("tombstone", n + 2, n + 1), targetId: idOf(n), targetSeq: n }
    }
  },
}

/** About 300 bytes. */
function message(n: number, parent: number): object {
  const content = [{ type: "text", text: words(n, 20) }] as const
  const said = n % 2 === 1 ? { role: "user", content } : { role: "assistant", content, stopReason: "stop" }
  return { ...place("message", n, parent), message: said }
}

function place(type: string, n: number, parent: number): object {
  return { type, id: idOf(n), parentId: parent === 0 ? null : idOf(parent), seq: n, timestamp: timeOf(n) }
}

function idOf(n: number): string {
  return `01KJ${String(n).padStart(22, "0")}`
}

function timeOf(n: number): string {
  return new Date(Date.parse("2026-01-01T00:00:00.000Z") + 1_000 * n).toISOString()
}
