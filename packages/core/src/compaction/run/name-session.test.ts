import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions, type Session } from "../../index.ts"
import type { SummarizeRequest } from "../../compaction-settings/types.ts"
import { nameSession } from "./name-session.ts"

async function asked(...contents: readonly string[]): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  for (const content of contents) await session.append({ type: "message", message: { role: "user", content } })
  return session
}

const never = (): never => expect.fail("the model was asked")

test("a session without a title gets the model's, as an automatic one", async () => {
  const session = await asked("Why is the sky blue?")
  const requests: SummarizeRequest[] = []
  const ask = async (request: SummarizeRequest): Promise<string> => {
    requests.push(request)
    return '# "The colour of the sky."\nIt is short.'
  }
  expect(await nameSession(session, { ask })).toBe("The colour of the sky")
  expect(requests[0]?.prompt).toContain("Why is the sky blue?")
  expect(await session.info()).toMatchObject({ title: "The colour of the sky", titleSource: "auto" })
})

test("a title that there is stays, and one that the user gives meanwhile wins", async () => {
  const named = await asked("hello")
  await named.title("mine")
  expect(await nameSession(named, { ask: never })).toBeUndefined()
  const session = await asked("hello")
  await nameSession(session, { ask: async () => (await session.title("mine"), "theirs") })
  expect((await session.info()).title).toBe("mine")
})

test("nothing is asked without messages, and nothing written for an answer that is no title", async () => {
  expect(await nameSession(await asked(), { ask: never })).toBeUndefined()
  const session = await asked("hello")
  for (const answer of ["", " \n", { text: "The colour of", stopReason: "length" }, { content: [{ type: "refusal" }] }])
    expect(await nameSession(session, { ask: async () => answer })).toBeUndefined()
  expect((await session.info()).title).toBeUndefined()
  expect(await nameSession(session, { ask: async () => "A greeting" })).toBe("A greeting")
})

test("a title is a line of at most 80 UTF-16 units, and the model gets no more than a beginning", async () => {
  const session = await asked("x".repeat(100_000))
  const title = await nameSession(session, {
    ask: async ({ prompt }) => (expect(prompt.length).toBeLessThan(7_000), "😀".repeat(100)),
  })
  expect(title).toBe("😀".repeat(40))
})

test("the error of the model comes back as it is, and wrong options are `invalid`", async () => {
  const session = await asked("hello")
  const failure = new Error("no network")
  await expect(nameSession(session, { ask: () => Promise.reject(failure) })).rejects.toBe(failure)
  await expect(nameSession(session, { ask: never, asks: 1 } as never)).rejects.toMatchObject({ code: "invalid" })
  await expect(nameSession(session, {} as never)).rejects.toMatchObject({ code: "invalid" })
  const signal = AbortSignal.abort()
  await expect(nameSession(session, { ask: never, signal })).rejects.toMatchObject({ code: "aborted" })
})
