import { compact } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { FILLER, startCompacting } from "../../../test/compacting.ts"
import { keepRules } from "../../../test/histories.ts"
import { anyLog, slotsOf } from "../../../test/logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { STORED_ID, storeLines } from "../../../test/stored.ts"
import { assistant, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import { openQuestion } from "../plan/cut-to-aim.ts"
import { escapeTags } from "../summary/serialize.ts"
import type { SummarizeRequest } from "../../compaction-settings/types.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { ContextMessage } from "../../context/types.ts"
import { renderMessages } from "../../context/render.ts"
import { selectContext } from "../../context/select.ts"
import type { NewEntry, NewMessage } from "../../format/new-entry.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { defaultLeaf } from "../../log/path.ts"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"

test("laws 1, 5, 6: each visible message is either summarized or kept, the context is shorter, and the log has one more entry", async () => {
  await holdsAsync(
    fc.asyncProperty(scripts, fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 3 }), async (script, keeps) => {
      const { session, location, reopen } = await startCompacting()
      await play(session, script)
      let covered = new Set<string>()
      for (const keepRecentTokens of keeps) {
        const shown = markersOf(await contextOf(session))
        const leftOut = await strays(session)
        const log = await storedEntries(location)
        const asked: SummarizeRequest[] = []
        const summarize = async (request: SummarizeRequest): Promise<string> => (asked.push(request), "short")
        const done = await compact(session, { summarize, keepRecentTokens }).catch((error: unknown) => error as Error)
        const grown = await storedEntries(location)
        if (done instanceof Error) {
          expect(done).toMatchObject({ code: "compaction_failed" })
          expect(grown).toEqual(log)
          continue
        }
        expect(grown.slice(0, -1)).toEqual(log)
        expect(grown.at(-1)).toMatchObject({ id: done.entryId, type: "compaction" })
        const summarized = markersOf(asked.map(({ prompt }) => prompt).join())
        const context = await session.context()
        const kept = markersOf(await contextOf(session))
        expect(summarized.filter((marker) => kept.includes(marker))).toEqual([])
        expect([...summarized, ...kept].toSorted()).toEqual(shown.toSorted())
        expect(summarized.filter((marker) => covered.has(marker))).toEqual([])
        covered = new Set([...covered, ...summarized])
        for (const stray of await strays(session)) expect(leftOut).toContain(stray)
        expect(context.tokens).toBe(done.tokensAfter)
        expect(done.tokensAfter).toBeLessThan(done.tokensBefore)
        expect((await (await reopen()).context()).messages).toEqual(context.messages)
        await play(session, [
          ["user", 3],
          ["assistant", 4],
        ])
      }
    }),
    50,
  )
})

test("law 8: the context fits, or the result names the rule; what the model has not read and its question are kept", async () => {
  const names = { tokens: "keepRecentTokens", turns: "keepTurns", messages: "keepMessages" }
  await holdsAsync(
    fc.asyncProperty(scripts, keepRules, fc.integer({ min: 20, max: 600 }), async (script, rule, contextWindow) => {
      const { session, location } = await startCompacting()
      await play(session, script)
      const { messages } = buildSessionContext([undefined, ...(await storedEntries(location))], session.leafId)
      const settings = {
        summarize: async () => "short",
        contextWindow,
        summarizerWindow: 90_000,
        [names[rule.kind]]: rule.count,
      }
      const done = await compact(session, settings).catch((error: unknown) => error as Error)
      if (done instanceof Error) return
      const shown = (await session.context({ repair: "none" })).messages.map(({ entryId }) => entryId)
      const ids = messages.map(({ entryId }) => entryId)
      const plain = messages.map(({ message }) => message)
      const answer = plain.findLastIndex(({ role }) => role === "assistant")
      const hasCalls = plain[answer]?.content?.some(({ type }) => type === "toolCall") === true
      if (hasCalls) expect(shown).toEqual(expect.arrayContaining(ids.slice(answer)))
      const question = openQuestion(plain)
      if (question !== undefined) expect(shown).toContain(ids[question])
      expect((await session.context({ window: contextWindow })).fits).toBe(done.fits)
      if (done.fits) expect(done.tooLarge).toBeUndefined()
      else expect(done.tooLarge).toContain(`${names[rule.kind]} (${rule.count}) keeps`)
    }),
    80,
  )
})

test("a pending call counts with its synthesized result when the result states whether the context fits", async () => {
  const compacted = async (contextWindow: number) => {
    const { session } = await startCompacting()
    const content = [{ type: "toolCall" as const, id: "c", name: "bash", arguments: {} }]
    const talk = [user(FILLER), assistant(FILLER), user("go")]
    await session.append([...talk, { type: "message", message: { role: "assistant", content } }])
    return compact(session, { summarize: async () => "short", contextWindow, summarizerWindow: 9_000, keepMessages: 0 })
  }
  const { tokensAfter } = await compacted(100_000)
  expect(await compacted(tokensAfter)).toMatchObject({ fits: true })
  expect(await compacted(tokensAfter - 1)).toMatchObject({
    fits: false,
    tooLarge: expect.stringMatching(/keepMessages/),
  })
})

test("for a log in any state, the kept part is the end of the visible messages, and the rest was summarized", async () => {
  await holdsAsync(
    fc.asyncProperty(anyLog, fc.nat({ max: 600 }), async (lines, keepRecentTokens) => {
      const long = lines.map((line) => line.replaceAll('"text":"', `"text":"${"-".repeat(400)}`))
      const session = await createSessions({ storage: await storeLines(long) }).open(STORED_ID)
      const before = await shown(session)
      const system = await systemMessages(session)
      const asked: string[] = []
      const summarize = async ({ prompt }: SummarizeRequest): Promise<string> => (asked.push(prompt), "short")
      const done = await compact(session, { summarize, keepRecentTokens }).catch(() => undefined)
      const after = await shown(session)
      expect(await systemMessages(session)).toEqual(system)
      // Only the question that waits for its answer may have moved, to behind the summary.
      const { question } = { ...(done && (await session.entry(done.entryId))) } as { question?: { id: string } }
      const moved = question === undefined ? [] : after.slice(0, 1)
      const kept = after.slice(moved.length)
      const rest = before.slice(0, before.length - kept.length)
      const place = rest.findLastIndex(({ id }) => id === question?.id)
      expect([...rest.slice(place, place < 0 ? 0 : place + 1), ...kept]).toEqual(question === undefined ? kept : after)
      const summarized = rest.filter((_, index) => index !== place || question === undefined)
      expect([...rest, ...kept]).toEqual(before)
      expect(done !== undefined || summarized.length === 0).toBe(true)
      for (const { text } of summarized.slice(countReset(long))) expect(asked.join()).toContain(escapeTags(text))
    }),
    60,
  )
})

/** The number of visible messages before a reset: another program's compaction may keep them. */
function countReset(lines: readonly string[]): number {
  const log = EntryLog.of(slotsOf(lines))
  const selection = selectContext(log, defaultLeaf(log) ?? null)
  if ("older" in selection) return 0
  const reset = selection.entries.findLast(({ entry }) => entry.type === "reset_boundary")?.seq ?? -1
  const { messages, seqs } = renderMessages(selection.entries)
  const isShown = ({ kind, message }: ContextMessage): boolean => kind !== "compaction" && message.role !== "system"
  return messages.filter((item, index) => isShown(item) && (seqs[index] as number) < reset).length
}

async function systemMessages(session: Session): Promise<readonly unknown[]> {
  const { messages } = await session.context({ repair: "none" })
  return messages.filter(({ message }) => message.role === "system")
}

/** The visible messages but those of the system, with the first text of those that the program did not make. */
async function shown(session: Session): Promise<readonly { readonly id: string; readonly text: string }[]> {
  const { messages } = await session.context({ repair: "none" })
  return messages.flatMap(({ kind, entryId, message: { role, content } }) => {
    const [first] = content as readonly { text?: string }[]
    return kind === "compaction" || role === "system"
      ? []
      : [{ id: entryId, text: role === "user" ? (first?.text ?? "") : "" }]
  })
}

test("the kept part begins at an id that no later entry has, so that the id is unambiguous", async () => {
  const filler = (id: string, text: string) => said(id, `${text} ${FILLER}`)
  const mode = { type: "mode_change", id: "x", mode: "plan" }
  const note = { type: "custom", id: "x", customType: "note" }
  const cases = [
    [[filler("a", "1"), filler("b", "2"), said("c", "3"), said("d", "4"), said("c", "5"), said("e", "6")], "456"],
    [
      [filler("a", "1"), filler("b", "2"), mode, said("c", "3"), said("d", "4"), note, said("e", "5"), said("f", "6")],
      "3456",
    ],
  ] as const
  for (const [entries, kept] of cases) {
    const storage = createMemoryStorage()
    const header = { type: "session", format: "@sessions", version: 4, id: "s", timestamp: AT }
    const placed = entries.map((entry, index) => ({
      ...entry,
      parentId: entries[index - 1]?.id ?? null,
      seq: index + 1,
      timestamp: AT,
    }))
    const lines = [header, ...placed].map((record) => JSON.stringify(record))
    await storage.append("s", lines, { expect: 0 })
    const session = await createSessions({ storage }).open("s")
    await compact(session, { summarize: async () => "short", keepRecentTokens: 4 })
    expect((await contextTexts(session)).slice(1).join("")).toBe(kept)
  }
})

const AT = "2026-01-31T09:30:00.000Z"

function said(id: string, text: string) {
  return { type: "message", id, message: { role: "assistant", content: [{ type: "text", text }] } }
}

const KINDS = [
  "user",
  "assistant",
  "calls",
  "results",
  "custom",
  "bash",
  "model",
  "edit",
  "omit",
  "drop",
  "branch",
  "label",
] as const
const scripts = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat({ max: 99 })), { maxLength: 30, size: "max" })

let count = 0

/** Each message has its own marker, long enough to find it. */
async function play(session: Session, script: readonly (readonly [(typeof KINDS)[number], number])[]): Promise<void> {
  const ids: string[] = []
  let open: string[] = []
  for (const [kind, n] of script) {
    const marker = `<<${count++}>>${"x".repeat(n * 8)}`
    const near = ids.at(-1 - (n % Math.max(1, ids.length)))
    const message = (value: object): Promise<unknown> => add({ type: "message", message: value as NewMessage })
    if (kind === "user" || kind === "assistant") await message({ role: kind, content: marker })
    else if (kind === "calls") {
      open = Array.from({ length: 1 + (n % 3) }, () => `call${count++}`)
      const content = open.map((id) => ({
        type: "toolCall",
        id,
        name: "bash",
        arguments: { marker: `<<${count++}>>` },
      }))
      await message({ role: "assistant", content })
    } else if (kind === "results") {
      const [id] = open.splice(n % Math.max(1, open.length), 1)
      if (id !== undefined) await message({ role: "toolResult", toolCallId: id, isError: false, content: marker })
    } else if (kind === "custom")
      await add({ type: "custom_message", customType: "note", content: marker, display: true })
    else if (kind === "bash") await message({ role: "bashExecution", command: "ls", output: marker })
    else if (kind === "model") await session.append({ type: "model_change", provider: "p", model: `m${n}` })
    else if (near === undefined) continue
    else if (kind === "edit") await session.edit(near, { content: marker })
    else if (kind === "omit") await session.edit(near, null)
    else if (kind === "drop") await session.tombstone(near)
    else if (kind === "label") await session.label(near, "here")
    else if (n % 5 === 0) await session.branch(near)
  }

  async function add(entry: NewEntry): Promise<void> {
    ids.push(...(await session.append(entry)).ids)
  }
}

/** All visible messages on the path, including results without visible calls. */
async function contextOf(session: Session): Promise<string> {
  return JSON.stringify((await session.context({ repair: "none" })).messages)
}

/** Entries of results that have no call. */
async function strays(session: Session): Promise<(string | undefined)[]> {
  const { diagnostics } = await session.context()
  return diagnostics.filter(({ message }) => message.includes("left out")).map(({ entryId }) => entryId)
}

function markersOf(text: string): string[] {
  return [...new Set(text.match(/<<\d+>>/g))]
}
