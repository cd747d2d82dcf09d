/** What a session gives to a caller is the caller's own: changing it changes no later answer. */
import { compact, shorten } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { SUMMARY } from "../../test/compacting.ts"
import { holdsAsync } from "../../test/property.ts"
import { assistant, user } from "../../test/writers.ts"
import type { Entry } from "../format/entry.ts"
import { createSessions } from "./repository.ts"
import { sessionBranches, sessionTree } from "../transfer/index.ts"
import type { Session } from "./types.ts"

/** Each function that gives out what is in memory. */
const READS: Readonly<Record<string, (session: Session) => unknown>> = {
  context: (session) => session.context(),
  unrepaired: (session) => session.context({ repair: "none" }),
  pruned: (session) => session.context({ window: 2_000, shorten: shorten({ softTrimShare: 0 }) }),
  messages: (session) => session.messages(),
  path: (session) => session.path(),
  entries: (session) => entriesOf(session),
  entry: async (session) => Promise.all((await entriesOf(session)).map(({ id }) => session.entry(id))),
  tree: (session) => sessionTree(session),
  branches: (session) => sessionBranches(session),
  info: (session) => session.info(),
  parts: (session) => session.parts(),
  header: (session) => session.header,
  head: (session) => session.head,
  repeated: (session) => session.append(user("three", "m3")),
  refresh: (session) => session.refresh(),
  diagnostics: (session) => session.diagnostics,
  turn: (session) => session.turn((inner) => inner.context()),
}

async function entriesOf(session: Session): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of session.entries()) entries.push(entry)
  return entries
}

async function answersOf(session: Session): Promise<string> {
  const answers: unknown[] = []
  for (const read of Object.values(READS)) answers.push(await read(session))
  return JSON.stringify(answers)
}

/** Changes every object and array in a value, as far as it lets. */
function spoil(value: unknown): void {
  if (typeof value !== "object" || value === null) return
  for (const key of Object.keys(value)) spoil((value as Record<string, unknown>)[key])
  for (const key of Object.keys(value)) Reflect.set(value, key, "EVIL")
  Reflect.set(value, "cache_control", { type: "ephemeral" })
  if (Array.isArray(value) && !Object.isFrozen(value)) value.push("EVIL")
}

/** As JSON, without the ids and times that differ between two runs. */
function nameless(...values: readonly unknown[]): string {
  return JSON.stringify(values).replaceAll(/[0-9A-HJKMNP-TV-Z]{26}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…")
}

const CALL = { type: "toolCall" as const, id: "c1", name: "read", arguments: { path: { deep: ["a"] } } }

/** A session with a compaction, two branches, calls, a tombstone, an edit, metadata, an unpaired call and an open tip. */
async function start(reopened: boolean, location = createMemoryLocation()): Promise<Session> {
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await sessions.create({
    id: "s",
    metadata: { tags: { a: ["x"] } },
    systemPromptOverride: "Be brief.",
  })
  await session.append([
    { type: "message", id: "s1", message: { role: "system", content: "You are A." } },
    user("one ".repeat(300)),
    assistant("two ".repeat(300)),
  ])
  await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 0 })
  await session.append([user("three", "m3"), { type: "mode_change", mode: "plan", data: { steps: ["a"] } }])
  await session.append([
    { type: "message", message: { role: "assistant", content: [CALL] } },
    { type: "message", message: { role: "toolResult", toolCallId: "c1", isError: false, content: "r ".repeat(4_000) } },
    assistant("four"),
    user("five", "m5"),
  ])
  await session.edit("m5", { content: [{ type: "text", text: "5" }] })
  await session.branch("m3")
  await session.append(user("other branch"))
  await session.metadata("plan", { steps: [{ name: "a" }] })
  const other = createSessions({ storage: createMemoryStorage({ location }) })
  const writer = await other.open("s")
  await session.append(assistant("here"))
  await writer.append(assistant("there"))
  // A refresh of the test is to find nothing new.
  await session.refresh()
  return reopened ? createSessions({ storage: createMemoryStorage({ location }) }).open("s") : session
}

test("a caller who changes anything that he was given changes no later answer", async () => {
  const names = fc.subarray(Object.keys(READS), { minLength: 1 })
  await holdsAsync(
    fc.asyncProperty(names, fc.boolean(), async (chosen, reopened) => {
      const session = await start(reopened)
      const before = await answersOf(session)
      for (const name of chosen) spoil(await READS[name]?.(session))
      expect(await answersOf(session)).toBe(before)
    }),
    15,
  )
})

test("each of them alone, so that a failure names it", async () => {
  for (const [name, read] of Object.entries(READS)) {
    const session = await start(false)
    const before = await answersOf(session)
    spoil(await read(session))
    expect([name, await answersOf(session)]).toEqual([name, before])
  }
})

test("nor what is written after it", async () => {
  const logs: string[] = []
  for (const spoils of [false, true]) {
    const location = createMemoryLocation()
    await (await start(false, location)).close()
    const session = await createSessions({ storage: createMemoryStorage({ location }) }).open("s")
    const again = createSessions({ storage: createMemoryStorage({ location }) })
    for (const read of Object.values(READS)) {
      const given = await read(session)
      if (spoils) spoil(given)
    }
    await session.append([
      user("after ".repeat(900), "m9"),
      { type: "message", message: { role: "assistant", content: [CALL] } },
    ])
    // The call has no result yet, so this context is repaired.
    const repaired = await session.context()
    if (spoils) spoil(repaired)
    const prompts: string[] = []
    const summarize = async ({ prompt }: { readonly prompt: string }) => (prompts.push(prompt), SUMMARY)
    await compact(session, { summarize, keepRecentTokens: 0 })
    const reopened = await again.open("s")
    logs.push(nameless(prompts, await entriesOf(reopened), await session.context(), await reopened.context()))
  }
  expect(logs[1]).toBe(logs[0])
})

test("nor does a listener or a hook that changes what it gets, or a caller who changes the entry after its append", async () => {
  const location = createMemoryLocation()
  const make = (spoils: boolean) => {
    const change = spoils ? spoil : () => undefined
    return createSessions({
      storage: createMemoryStorage({ location: spoils ? location : createMemoryLocation() }),
      hooks: [{ save: change, create: change }],
    })
  }
  const texts: string[][] = []
  for (const spoils of [false, true]) {
    const session = await make(spoils).create({ id: "s", cwd: "/a" })
    if (spoils) for (const name of ["appended", "foreign", "diverged", "diagnostic"] as const) session.on(name, spoil)
    const entry = user("a", "u1")
    const results = [session.append(entry), session.append({ ...entry }), session.append(assistant("b", "a1"))]
    if (spoils) spoil(entry)
    const given = await Promise.all(results)
    expect(new Set(given.map(({ head }) => head)).size).toBe(given.length)
    for (const result of given) if (spoils) spoil(result)
    if (spoils) {
      const writer = await createSessions({ storage: createMemoryStorage({ location }) }).open("s")
      await writer.metadata("k", { a: [1] })
    } else await session.metadata("k", { a: [1] })
    await session.append(user("c", "u2"))
    const { messages } = await session.context()
    texts.push([JSON.stringify(messages), String(session.header.cwd), JSON.stringify((await session.info()).metadata)])
  }
  expect(texts[1]).toEqual(texts[0])
})
