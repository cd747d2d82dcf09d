/** A session whose log was put back to an older state while a server has it open. */
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import type { SessionEvent } from "@sessions/http/client"
import { expect, test } from "vitest"
import { ask, endOf, newId, type Served, serve, textsOf, until } from "./server.ts"

/** Returns a function that puts the present log, and the documents, back in their place. */
function backup({ logs, docs }: MemoryLocation, id: string): () => void {
  const log = logs.get(id)
  if (log === undefined) throw new Error("There is no log.")
  const [lines, texts] = [[...log.lines], [...docs]]
  return () => {
    logs.set(id, { ...log, lines: [...lines] })
    docs.clear()
    for (const [key, text] of texts) docs.set(key, text)
  }
}

interface Asked extends Served {
  readonly location: MemoryLocation
  readonly id: string
  readonly restore: () => void
}

/** A server whose session has the prompt `one` and its answer, and can be put back to that. */
async function served(): Promise<Asked> {
  const location = createMemoryLocation()
  const server = serve({ storage: createMemoryStorage({ location }) })
  const { id } = await server.client.create()
  await ask(server.client, id, "one")
  return { ...server, location, id, restore: backup(location, id) }
}

/** The texts of the messages, and where the session is to be loaded again. */
function textsIn(events: readonly SessionEvent[]): readonly string[] {
  const texts: string[] = []
  for (const event of events) {
    if (event.event === "reset") texts.push("reset")
    if (event.event !== "appended") continue
    for (const entry of event.data.entries)
      if (entry.type === "message")
        for (const block of entry.message.content ?? []) texts.push(block.type === "text" ? block.text : block.type)
  }
  return texts
}

test("a load that meets the loss is answered, and those who follow are told to load again and get all that comes then", async () => {
  const { client, id, restore, errors } = await served()
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  await ask(client, id, "two")
  restore()
  expect(await textsOf(client, id)).toEqual(["one", "ONE"])
  // The end of a turn comes in any case; its entries may be behind the reset already.
  const [three, four] = [newId(), newId()]
  const rest = { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }
  await client.prompt(id, { id: three, text: "three" })
  const seen = await until(rest, endOf(three))
  await client.prompt(id, { id: four, text: "four" })
  const after = await until({ [Symbol.asyncIterator]: () => events }, endOf(four))
  expect([textsIn(seen).slice(0, 3), textsIn(after)]).toEqual([
    ["two", "TWO", "reset"],
    ["four", "FOUR"],
  ])
  expect(errors).toEqual([])
})

test("a prompt whose message is gone runs again when it is sent again, and one that has come since does not", async () => {
  const { client, id, restore } = await served()
  const two = newId()
  const send = async (prompt: { id: string; text: string }): Promise<number | null> => {
    const events = client.events(id)[Symbol.asyncIterator]()
    await events.next()
    const { position } = await client.prompt(id, prompt)
    if (position !== null) await until({ [Symbol.asyncIterator]: () => events }, endOf(prompt.id))
    await events.return?.()
    return position
  }
  expect(await send({ id: two, text: "two" })).toBe(0)
  expect(await send({ id: two, text: "two" })).toBe(null)
  restore()
  expect(await send({ id: two, text: "two" })).toBe(0)
  expect(await send({ id: two, text: "two" })).toBe(null)
  expect(await textsOf(client, id)).toEqual(["one", "ONE", "two", "TWO"])
})

test("one who connects again, when the log has grown beyond the place that it knew, is told to load again", async () => {
  const { client, id, restore, location } = await served()
  const before = await ask(client, id, "two")
  const after = before.at(-1)?.cursor ?? ""
  restore()
  const other = serve({ storage: createMemoryStorage({ location }) })
  for (const text of ["three", "four"]) await ask(other.client, id, text)
  const events = other.client.events(id, { after })[Symbol.asyncIterator]()
  const seen = [await events.next(), await events.next()].map(({ value }) => (value as SessionEvent).event)
  expect(seen).toEqual(["state", "reset"])
  await events.return?.()
  const { cursor } = (await until(other.client.events(id), () => true))[0] as SessionEvent
  await ask(other.client, id, "five")
  const further = await until(other.client.events(id, { after: cursor }), ({ event }) => event === "appended")
  expect(further.map(({ event }) => event)).toEqual(["state", "appended"])
})
