import { createMemoryStorage } from "@sessions/memory"
import { expect, expectTypeOf, test } from "vitest"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"
import type { Sessions } from "./repository-types.ts"

type Note = { readonly type: "acme:note"; readonly text: string }
type Rating = { readonly type: "acme:rating"; readonly stars: number }
interface Metadata {
  readonly project: string
  readonly tags: readonly string[]
}

test("the entry types and the metadata of an application are known wherever they are given and read", async () => {
  const sessions = createSessions<Note | Rating, Metadata>({ storage: createMemoryStorage() })
  const session = await sessions.create({ id: "s" })
  await session.append([
    { type: "acme:note", text: "first" },
    { type: "acme:rating", stars: 5 },
  ])
  await session.metadata("tags", ["a"])
  const seen: (string | number)[] = []
  for await (const entry of session.entries()) {
    if (entry.type === "acme:note") seen.push(entry.text)
    if (entry.type === "acme:rating") seen.push(entry.stars)
  }
  expect(seen).toEqual(["first", 5])
  const { metadata } = await session.info()
  expectTypeOf(metadata).toEqualTypeOf<Readonly<Partial<Metadata>>>()
  expect(metadata.tags).toEqual(["a"])
  const [listed] = (await sessions.list()).sessions
  expect(listed?.metadata.tags).toEqual(["a"])
  expect((await sessions.list({ metadata: { tags: ["a"] } })).sessions).toHaveLength(1)

  // @ts-expect-error A misspelt type.
  await session.append({ type: "acme:nota", text: "x" })
  // @ts-expect-error A field of the wrong type.
  await session.append({ type: "acme:rating", stars: "five" })
  // @ts-expect-error A key that the application does not have.
  await session.metadata("projects", "x")
  // @ts-expect-error A value of the wrong type.
  await session.metadata("project", 7)
  // @ts-expect-error A filter by a key that the application does not have.
  await sessions.list({ metadata: { projects: "x" } })
  // @ts-expect-error A filter by a value of the wrong type.
  await sessions.list({ metadata: { project: 7 } })
})

test("a function for any session takes one with types of its own", async () => {
  const sessions = createSessions<Note, Metadata>({ storage: createMemoryStorage() })
  const create = async (any: Sessions): Promise<Session> => any.create({ id: "s" })
  const say = async (any: Session): Promise<unknown> => any.append({ type: "acme:other" })
  await create(sessions)
  expect(await say(await sessions.open("s"))).toMatchObject({ ids: [expect.any(String)] })
})
