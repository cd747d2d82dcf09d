/** A process that runs or resumes the calls of a turn, up to a given step, at which it kills itself; and what all of them share. */
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createSessions, hasCode, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"
import { createToolCalls, type Execution } from "@sessions/tool-calls"
import { call, TOOLS } from "../world.ts"

export interface Plan {
  readonly place: string
  readonly kind: "files" | "sqlite"
  /** Runs the calls as the loop of an agent; otherwise resumes them. */
  readonly runs: boolean
  /** No other process is there that could still make a call. */
  readonly isAlone: boolean
  /** -1: never. */
  readonly killAt: number
}

export const BLOCKS = ["a", "b", "c", "d"].map((id) => call(id, id === "c" ? "look" : "charge", { id }))

/** A line for each charge. */
export function chargesIn(place: string): readonly { readonly callId: string; readonly key: string }[] {
  const file = join(place, "bank")
  if (!existsSync(file)) return []
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1)
  return lines.map((line) => ({ callId: line.split(" ")[0] ?? "", key: line.split(" ")[1] ?? "" }))
}

/** `step` is called before and after each call of the storage. */
export function openSessions(
  { place, kind }: Pick<Plan, "place" | "kind">,
  step: () => void = () => undefined,
): Sessions {
  const storage =
    kind === "files" ? createFileStorage({ root: place }) : createSqliteStorage({ path: join(place, "sessions.db") })
  const append: SessionStorage["append"] = async (...args) => {
    step()
    const head = await storage.append(...args)
    step()
    return head
  }
  return createSessions({ storage: { ...storage, append } })
}

export async function runChild(plan: Plan): Promise<void> {
  let steps = 0
  const step = (): void => {
    if (steps++ === plan.killAt) process.kill(process.pid, "SIGKILL")
  }
  const sessions = openSessions(plan, step)
  const session = await sessions.open("s")
  const calls = createToolCalls(session, {
    tools: TOOLS,
    onUnknown: ({ key }) => {
      if (chargesIn(plan.place).some((charge) => charge.key === key)) return { output: "charged" }
      return plan.isAlone ? "not done" : undefined
    },
  })
  const charge = async ({ key, arguments: { id } }: Execution): Promise<string> => {
    step()
    appendFileSync(join(plan.place, "bank"), `${String(id)} ${key}\n`)
    step()
    return "charged"
  }
  const look = (): string => {
    step()
    return "seen"
  }
  const run = (block: (typeof BLOCKS)[number]): Promise<unknown> =>
    calls.run(block, block.name === "look" ? look : charge).catch((error: unknown) => {
      if (!hasCode(error, "conflict")) throw error
    })
  step()
  if (plan.runs) await Promise.all(BLOCKS.map(run))
  else await calls.resume({ charge, look })
  await sessions.close()
}
