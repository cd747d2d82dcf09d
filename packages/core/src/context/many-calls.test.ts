/** Messages with very many tool calls, as another program may have written them: four times as many are about four times the work. */
import { expect, test } from "vitest"
import { createSessions } from "../session/repository.ts"
import type { Session } from "../session/types.ts"
import { chain, linesOf, user } from "../../test/chain.ts"
import { growthOf, MOST_GROWTH, times } from "../../test/growth-of.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"

type Fields = Record<string, unknown>

const call = (id: string): Fields => ({ type: "toolCall", id, name: "t", arguments: {} })
const asked = (ids: readonly string[]): Fields => ({
  type: "message",
  message: { role: "assistant", content: ids.map(call) },
})
const result = (toolCallId: string, fields: Fields = {}): Fields => ({
  type: "message",
  message: { role: "toolResult", toolCallId, toolName: "t", content: [{ type: "text", text: "x" }], isError: false },
  ...fields,
})
/** On a branch beside the calls, which are the second entry. */
const beside = (n: number): Fields => (n === 0 ? { parentId: "e1" } : {})

/** The entries behind the first question, and how many make the square visible. */
const LOGS: Readonly<Record<string, readonly [count: number, make: (n: number) => readonly Fields[]]>> = {
  "calls without results": [1_500, (n) => [asked(times(n, (i) => `c${i}`))]],
  "calls of one id without results": [1_500, (n) => [asked(times(n, () => "c"))]],
  "calls with results": [1_000, (n) => [asked(times(n, (i) => `c${i}`)), ...times(n, (i) => result(`c${i}`))]],
  "calls of one id whose results are on another branch": [
    80,
    (n) => [asked(times(n, () => "c")), ...times(n, (i) => result("c", beside(i))), user("back", { parentId: "e2" })],
  ],
  "calls whose results are on another branch": [
    500,
    (n) => [
      asked(times(n, (i) => `c${i}`)),
      ...times(n, (i) => result(`c${i}`, beside(i))),
      user("back", { parentId: "e2" }),
    ],
  ],
  "a long branch beside the calls": [
    2_500,
    (n) => [asked(["c", "d"]), ...times(n, (i) => user(`${i}`, beside(i))), result("c", { parentId: "e2" })],
  ],
  "calls that an edit has turned round": [
    800,
    (n) => [
      asked(times(n, (i) => `c${i}`)),
      { type: "context_edit", targetId: "e2", replacement: { content: times(n, (i) => call(`c${n - 1 - i}`)) } },
    ],
  ],
}

test.each(Object.entries(LOGS))("%s", async (_, [count, make]) => {
  const open = async (n: number): Promise<Session> => {
    const storage = await storeLines(linesOf(chain(user("q"), ...make(n)), HEADER))
    return createSessions({ storage }).open(STORED_ID)
  }
  const read = async (opened: Promise<Session>): Promise<void> => {
    const session = await opened
    await session.context()
    await session.callStates()
  }
  expect(await growthOf(count, open, read)).toBeLessThan(MOST_GROWTH)
})
