/** A process that goes on with the turn, up to a given step, at which it kills or stops itself. Its plan is the line on its input. */
import { writeSync } from "node:fs"
import { hasCode, type SessionError } from "@sessions/core"
import type { Execution } from "@sessions/tool-calls"
import { openBank } from "./bank.ts"
import type { Plan, Said, TOOLS } from "./plan.ts"
import { openSessions } from "./stores.ts"
import { RUN } from "./ways.ts"

let text = ""
for await (const piece of process.stdin.setEncoding("utf8")) {
  text += String(piece)
  if (text.includes("\n")) break
}
await run(JSON.parse(text) as Plan)
process.exit(0)

async function run(plan: Plan): Promise<void> {
  let steps = 0
  const step = (): void => {
    const n = steps++
    if (n === plan.stopAt) {
      writeSync(1, `${JSON.stringify({ stops: true } satisfies Said)}\n`)
      process.kill(process.pid, "SIGSTOP")
    }
    if (n === plan.killAt) process.kill(process.pid, "SIGKILL")
  }
  const bank = openBank(plan.folder, plan.takesKeys)
  const tools = {
    charge({ key, arguments: { id } }: Execution): string {
      step()
      const receipt = bank.charge({ callId: String(id), key })
      step()
      return receipt
    },
    look(): string {
      step()
      return "seen"
    },
  } satisfies Record<keyof typeof TOOLS, unknown>
  const onUnknown = ({ key = "" }) => {
    const output = bank.find(key)
    if (output !== undefined) return { output }
    // A bank that does not take keys is told again only when nobody else can tell it.
    return plan.isAlone || plan.takesKeys ? ("not done" as const) : undefined
  }
  const sessions = await openSessions(plan.place, step)
  step()
  for (;;) {
    try {
      await RUN[plan.way]({ sessions, plan, tools, onUnknown })
      break
    } catch (error) {
      if (!isExpected(error)) throw error
      // Others are there, or were while it stood still.
      if (!plan.isAlone) break
      // A busy machine may let its storage wait for longer than a lease: then it begins again, as its user would.
      if ((error as SessionError).leaseLost !== true) throw error
    }
  }
  await sessions.close()
}

/** SDKs wrap what a tool throws. A call of a turn that has ended meanwhile is `invalid`. */
function isExpected(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = (one as { error?: unknown }).error ?? one.cause)
    if ((["conflict", "indeterminate", "unavailable", "invalid"] as const).some((code) => hasCode(one, code)))
      return true
  return false
}
