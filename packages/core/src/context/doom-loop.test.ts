import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions, type Session } from "../index.ts"
import { doomLoopWarning } from "./doom-loop.ts"

async function step(session: Session, path: string): Promise<void> {
  const id = crypto.randomUUID()
  const call = { type: "toolCall", id, name: "read", arguments: { path } } as const
  await session.append({ type: "message", message: { role: "assistant", content: [call] } })
  await session.append({ type: "message", message: { role: "toolResult", toolCallId: id, content: "the same" } })
}

async function looping(times: number): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.append({ type: "message", message: { role: "user", content: "read it" } })
  for (let n = 0; n < times; n++) await step(session, "a.ts")
  return session
}

test("three equal calls are answered with a message that append takes and the model gets, two are not", async () => {
  expect(await doomLoopWarning(await looping(2))).toBeUndefined()
  const session = await looping(3)
  const warning = await doomLoopWarning(session)
  if (warning === undefined) throw new Error("no warning")
  await session.append(warning)
  const last = (await session.context()).messages.at(-1)?.message
  expect(last).toMatchObject({ role: "user", synthetic: true })
  expect(JSON.stringify(last)).toContain('called \\"read\\" 3 times in a row')
})

test("a warning is not repeated before the next step, and comes again if the model goes on", async () => {
  const session = await looping(3)
  const append = async (): Promise<boolean> => {
    const warning = await doomLoopWarning(session)
    if (warning !== undefined) await session.append(warning)
    return warning !== undefined
  }
  expect([await append(), await append()]).toEqual([true, false])
  await step(session, "a.ts")
  expect(await append()).toBe(true)
  await step(session, "b.ts")
  expect(await append()).toBe(false)
})

test("`least` says how many calls are a loop", async () => {
  const session = await looping(2)
  expect(await doomLoopWarning(session, 2)).toBeDefined()
  expect(await doomLoopWarning(session, 3)).toBeUndefined()
})
