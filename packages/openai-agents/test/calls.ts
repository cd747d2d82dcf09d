/** A sequence of calls that changes a history in every way. The history after each call is known, see {@link historiesAfter}. */
import type { AgentSession } from "@sessions/openai-agents"
import { ReferenceSession } from "./reference.ts"

type Calls = Pick<
  AgentSession<object>,
  | "addItems"
  | "popItem"
  | "clearSession"
  | "replaceHistoryWithCompaction"
  | "applyHistoryTransaction"
  | "applyHistoryMutations"
>

/** The number of calls after which the sequence begins again, with other items. */
const ROUND = 8

/** Whether the nth call may be repeated after it was applied: a transaction has an id. */
export function isRepeatable(n: number): boolean {
  return n % ROUND === 1 || n % ROUND === 4
}

/** Whether the nth call is an `addItems`. */
export function isAdding(n: number): boolean {
  const round = Math.floor(n / ROUND)
  const at = n % ROUND
  return at === 0 || at === 2 || (at === 6 && round % 3 !== 1) || (at === 7 && round % 2 === 0)
}

/** Makes the nth call, from 0. */
export async function call(session: Calls, n: number): Promise<void> {
  const round = Math.floor(n / ROUND)
  const callId = `c${round}`
  const question = { type: "message", role: "user", content: `question ${round}` }
  const asked = { type: "function_call", callId, name: "look", arguments: `{"n":${round}}` }
  const result = { type: "function_call_result", callId, name: "look", status: "completed", output: "found" }
  const answer = {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "a" }],
  }
  switch (n % ROUND) {
    case 0:
      return session.addItems([question, asked])
    case 1:
      return session.applyHistoryTransaction({
        operationId: `replace ${round}`,
        transaction: { type: "replace_suffix", expectedSuffix: [asked], replacement: [asked, result] },
      })
    case 2:
      return session.addItems([answer])
    case 3:
      await session.popItem()
      return
    case 4:
      return session.applyHistoryTransaction({
        operationId: `append ${round}`,
        transaction: { type: "append_items", items: [answer, question] },
      })
    case 5:
      return session.applyHistoryMutations({
        mutations: [{ type: "replace_function_call", callId, replacement: { ...asked, arguments: "{}" } }],
      })
    case 6:
      if (round % 3 !== 1) return session.addItems([answer])
      return session.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: `round ${round}` }, answer])
    default:
      return round % 2 === 1 ? session.clearSession() : session.addItems([question, answer, question])
  }
}

/** The histories after 0 to `count` calls. */
export async function historiesAfter(count: number): Promise<readonly (readonly object[])[]> {
  const reference = new ReferenceSession()
  const histories: (readonly object[])[] = [[]]
  for (let n = 0; n < count; n++) {
    await call(reference, n)
    histories.push(await reference.getItems())
  }
  return histories
}
