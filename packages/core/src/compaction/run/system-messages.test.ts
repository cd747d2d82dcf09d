/** System messages stay in force across compactions: each is in the context once, before the summary or in its place. */
import { compact } from "../index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { createCountingStorage } from "../../../test/counting-storage.ts"
import { holdsAsync } from "../../../test/property.ts"
import { assistant, storedEntries, storedLines, user } from "../../../test/writers.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"
import { forkSession } from "../../transfer/index.ts"

const TALK = [user(FILLER), assistant(FILLER)]
const NOTHING = { summarize: async () => SUMMARY, keepRecentTokens: 0 }

function system(content: string, id?: string): NewEntry {
  return { type: "message", message: { role: "system", content }, ...(id === undefined ? {} : { id }) }
}

/** The context: texts of system messages, and the roles of the others. */
async function shown(session: Session): Promise<string[]> {
  return (await session.context()).messages.map(({ message }) =>
    message.role === "system" ? (message.content[0] as { text: string }).text : message.role,
  )
}

test("a system message before the cut stays in the context, before the summary, also when it is opened again", async () => {
  const { session, reopen, location } = await startCompacting()
  await session.append([system("A", "s1"), ...TALK, system("B", "s2"), ...TALK])
  let prompt = ""
  const summarize = async (request: { prompt: string }): Promise<string> => ((prompt = request.prompt), SUMMARY)
  await compact(session, { summarize, keepMessages: 1 })
  expect(prompt).not.toContain("[System]")
  expect((await storedEntries(location)).at(-1)).toMatchObject({
    system: [
      { id: "s1", message: { role: "system", content: [{ type: "text", text: "A" }] } },
      { id: "s2", message: { role: "system", content: [{ type: "text", text: "B" }] } },
    ],
  })
  for (const open of [session, await reopen()]) {
    expect(await shown(open)).toEqual(["A", "B", "user", "assistant"])
    expect((await open.context()).messages.map(({ entryId }) => entryId).slice(0, 2)).toEqual(["s1", "s2"])
  }
})

test("the context names the compaction that it begins with, not a system message that it carries", async () => {
  const { session, reopen } = await startCompacting()
  await session.append([system("A"), ...TALK])
  const { entryId, tokensBefore } = await compact(session, NOTHING)
  for (const open of [session, await reopen()])
    expect((await open.context()).compaction).toEqual({ entryId, tokensBefore })
})

test("a system message in the kept part stays in its place, and the next compaction carries it", async () => {
  const { session, reopen } = await startCompacting()
  await session.append([system("A"), ...TALK, user("b"), system("B"), assistant("c")])
  await compact(session, { summarize: async () => SUMMARY, keepMessages: 2 })
  expect(await shown(session)).toEqual(["A", "user", "B", "assistant"])
  await session.append(TALK)
  const { tokensAfter } = await compact(session, NOTHING)
  expect(await shown(await reopen())).toEqual(["A", "B", "user"])
  expect((await session.context()).tokens).toBe(tokensAfter)
})

test("a deleted system message is gone, and an edited one has its latest content", async () => {
  const { session, reopen } = await startCompacting()
  await session.append([system("A", "s1"), system("B", "s2"), system("C", "s3"), system("D", "s4"), ...TALK])
  await session.tombstone("s1")
  await session.edit("s2", { content: [{ type: "text", text: "B2" }] })
  await compact(session, NOTHING)
  expect(await shown(session)).toEqual(["B2", "C", "D", "user"])
  const again = await reopen()
  await again.tombstone("s3")
  await again.edit("s2", { content: [{ type: "text", text: "B3" }] })
  await again.edit("s4", null)
  expect(await shown(again)).toEqual(["B3", "user"])
  expect(await shown(await reopen())).toEqual(["B3", "user"])
  await again.append(TALK)
  await compact(again, NOTHING)
  expect(await shown(await reopen())).toEqual(["B3", "user"])
})

test("the next compaction updates the summary behind the system messages, also if one of these was removed", async () => {
  const { session } = await startCompacting()
  await session.append([system("A", "s1"), system("B"), ...TALK])
  await compact(session, NOTHING)
  const prompts: string[] = []
  const summarize = async ({ prompt }: { prompt: string }): Promise<string> => (prompts.push(prompt), SUMMARY)
  for (const remove of [false, true]) {
    await session.append(TALK)
    if (remove) await session.edit("s1", null)
    await compact(session, { ...NOTHING, summarize })
    expect(prompts.at(-1)).toContain(`<previous-summary>\n${SUMMARY.trim()}\n</previous-summary>`)
    expect(prompts.at(-1)).not.toContain("compacted into the following summary")
  }
})

test("a reset ends them, and a fork has them", async () => {
  const { session, sessions } = await startCompacting()
  await session.append([system("A"), ...TALK])
  await compact(session, NOTHING)
  expect(await shown(await forkSession(sessions, "s"))).toEqual(["A", "user"])
  await session.append([{ type: "reset_boundary" }, ...TALK])
  await compact(session, NOTHING)
  expect(await shown(session)).toEqual(["user"])
})

test("a compaction that the caller appends carries them too, also those of its own append", async () => {
  const { session } = await startCompacting()
  const fields = { tokensBefore: 1, readFiles: [], modifiedFiles: [], summary: "s" }
  await session.append([system("A"), user("a", "u1")])
  await session.append([system("B"), { type: "compaction", id: "c", firstKeptEntryId: "c", ...fields }])
  expect(await shown(session)).toEqual(["A", "B", "user"])
  await session.append([user("b", "u2"), system("C")])
  await session.append({ type: "compaction", firstKeptEntryId: "u2", ...fields })
  expect(await shown(session)).toEqual(["A", "B", "user", "user", "C"])
})

test("a long system message is stored once, as a blob", async () => {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }), blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  await session.append([system("A".repeat(200), "s1"), ...TALK])
  await session.edit("s1", { content: [{ type: "text", text: "B".repeat(200) }] })
  for (let round = 0; round < 2; round++) {
    await session.append([system("C".repeat(200)), ...TALK])
    await compact(session, NOTHING)
  }
  expect((await storedLines(createMemoryStorage({ location }))).join()).not.toMatch(/[ABC]{200}/)
  const again = await createSessions({ storage: createMemoryStorage({ location }) }).open("s")
  const long = ["B", "C", "C"].map((letter) => letter.repeat(200))
  expect(await shown(again)).toEqual([...long, "user"])
  expect((await again.context()).diagnostics).toEqual([])
})

test("opening reads no line before the kept part for them", async () => {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  await session.append(system("A"))
  for (let n = 0; n < 5; n++) {
    await session.append(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? user(FILLER) : assistant(FILLER))))
    await compact(session, NOTHING)
  }
  const storage = createCountingStorage(createMemoryStorage({ location }))
  expect(await shown(await createSessions({ storage }).open("s"))).toEqual(["A", "user"])
  const { bytes } = (await storage.head("s")) as { bytes: number }
  expect(storage.counted.units).toBeLessThan(bytes / 6)
})

test("each system message that is not deleted is in the context once, in their order, after any history", async () => {
  const step = fc.constantFrom("system", "talk", "compact", "keep", "delete", "edit", "reopen")
  await holdsAsync(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.nat(), async (steps, n) => {
      const { session: first, reopen } = await startCompacting()
      let session = first
      const live: { id: string; text: string }[] = []
      for (const [index, kind] of steps.entries()) {
        const one = live[(n + index) % Math.max(1, live.length)]
        if (kind === "system") {
          const text = `S${index}`
          live.push({ id: (await session.append(system(text))).ids[0] as string, text })
        } else if (kind === "talk") await session.append(TALK)
        else if (kind === "reopen") session = await reopen()
        else if (kind === "delete" && one !== undefined) {
          await session.tombstone(one.id)
          live.splice(live.indexOf(one), 1)
        } else if (kind === "edit" && one !== undefined) {
          one.text = `E${index}`
          await session.edit(one.id, { content: [{ type: "text", text: one.text }] })
        } else if (kind === "compact" || kind === "keep") {
          const keep = kind === "keep" ? { keepMessages: 2 } : { keepRecentTokens: 0 }
          await compact(session, { summarize: async () => SUMMARY, ...keep }).catch(() => undefined)
        }
      }
      for (const open of [session, await reopen()])
        expect((await shown(open)).filter((text) => !/^(?:user|assistant)$/.test(text))).toEqual(
          live.map(({ text }) => text),
        )
    }),
    80,
  )
})
