/** What the calls of a turn cost: the appends, requests or statements that each way of running them takes. */
import { readFileSync } from "node:fs"
import { createSessions, type Session } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { toolResult } from "@sessions/providers"
import { createToolCalls } from "@sessions/tool-calls"
import { call, question, TOOLS } from "./world.ts"

export interface Counted {
  readonly storage: SessionStorage
  /** Their number since the last call. */
  readonly take: () => number
}

type Way = (session: Session, ids: readonly string[]) => Promise<unknown>

/** The rows of the table in docs/tool-calls.md. */
const WAYS: Readonly<Record<string, { readonly count: number; readonly tool: string; readonly way: Way }>> = {
  "a call without this package": { count: 1, tool: "other", way: appendAll },
  "a `safe` call": { count: 1, tool: "look", way: runAll },
  "a `never` call": { count: 1, tool: "charge", way: runAll },
  "three calls at once, without it": { count: 3, tool: "other", way: appendAll },
  "three `never` calls at once": { count: 3, tool: "charge", way: runAll },
}

function appendAll(session: Session, ids: readonly string[]): Promise<unknown> {
  return Promise.all(ids.map((id) => session.append(toolResult({ id, name: "other" }, "done"))))
}

function runAll(session: Session, ids: readonly string[]): Promise<unknown> {
  const calls = createToolCalls(session, { tools: TOOLS })
  return Promise.all(ids.map((id) => calls.run({ id }, () => "done")))
}

/** By the names of the ways, as in the table. */
export async function costsOn({ storage, take }: Counted): Promise<Readonly<Record<string, number>>> {
  const session = await createSessions({ storage }).create({ id: "s" })
  const costs: Record<string, number> = {}
  for (const [name, { count, tool, way }] of Object.entries(WAYS)) {
    const ids = Array.from({ length: count }, (_, n) => `${name} ${n}`)
    await session.append([question(), createToolCalls(session, { tools: TOOLS }).record])
    await session.append({ type: "message", message: { role: "assistant", content: ids.map((id) => call(id, tool)) } })
    take()
    await way(session, ids)
    costs[name] = take()
  }
  await session.close()
  return costs
}

/** The column of a storage in docs/tool-calls.md. */
export function documentedCosts(column: string): Readonly<Record<string, number>> {
  const page = readFileSync(new URL("../../../docs/tool-calls.md", import.meta.url), "utf8")
  const [head = "", , ...rows] = (/^\| \| files: .*\n(?:\|.*\n)+/m.exec(page)?.[0] ?? "")
    .trim()
    .split("\n")
    .map(cellsOf)
  const at = head.indexOf(column)
  return Object.fromEntries(rows.map((cells) => [cells[0] ?? "", Number(cells[at])]))
}

function cellsOf(line: string): readonly string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())
}
