/** Lists the newest 50 of 10,000 sessions in a new process, twice. The raw loop is a readdir and one stat each. */
import { inNewProcess } from "../child.ts"
import type { ListTimes } from "../children/list.ts"
import { message } from "../data.ts"
import { withFolder } from "../folder.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { ROUNDS } from "../rounds.ts"
import { createSessions } from "@sessions/core"
import { createStorage } from "./storage.ts"

export function listScenarios(quick: boolean): readonly Scenario[] {
  const count = quick ? 1_000 : 10_000
  return [{ id: "list.10k", run: () => withFolder((root) => list(root, count, quick ? 5 : ROUNDS)) }]
}

async function list(root: string, count: number, processes: number): Promise<Result> {
  const sessions = createSessions({ storage: createStorage({ root }) })
  for (let i = 0; i < count; i += 20) {
    await Promise.all(
      Array.from({ length: Math.min(20, count - i) }, async (_, k) => {
        const session = await sessions.create({ cwd: "/project" })
        await session.append(message(i + k))
        await session.close()
      }),
    )
  }
  await sessions.close()
  const all: ListTimes[] = []
  for (let process = 0; process <= processes; process++) {
    const times = await inNewProcess<ListTimes>("list", [root, String(count)])
    if (process > 0) all.push(times)
  }
  const pair = { ours: all.map(({ first }) => first), raw: all.map(({ raw }) => raw) }
  return { ...timed("list.10k", "ms", pair), work: { againMs: median(all.map(({ again }) => again)) } }
}
