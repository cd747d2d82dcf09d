/** What must hold whatever is refused: of a session that grows, is refused, and is read by other processes. */
import { automaticCompaction, makeRoom } from "../index.ts"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../../../.config/runs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { storedEntries } from "../../../test/writers.ts"
import type { SessionContext } from "../../context/types.ts"
import type { Entry } from "../../format/entry.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"

const WINDOW = 2_000
const REFUSALS: readonly Error[] = [
  new Error("prompt is too long"),
  new Error("prompt is too long: 1500 tokens > 1400 maximum"),
  Object.assign(new Error("Request exceeds the maximum size"), { status: 413 }),
  new Error("Too much media: 0 document pages + 3 images > 1"),
]

type Act =
  | { readonly act: "say" | "tools"; readonly size: number; readonly images: number }
  | { readonly act: "room" }
  | { readonly act: "refuse"; readonly error: number }

const sizes = { size: fc.constantFrom(10, 300, 1_500, 6_000), images: fc.constantFrom(0, 0, 1, 3) }
const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({ act: fc.constantFrom("say" as const, "tools" as const), ...sizes }),
    fc.record({ act: fc.constant("room" as const) }),
    fc.record({ act: fc.constant("refuse" as const), error: fc.nat({ max: REFUSALS.length - 1 }) }),
  ),
  { minLength: 3, maxLength: 14 },
)

function contentOf(size: number, images: number) {
  const image = { type: "image" as const, data: "A".repeat(400), mimeType: "image/png" }
  return [
    { type: "text" as const, text: "word ".repeat(Math.ceil(size / 5)) },
    ...Array.from({ length: images }, () => image),
  ]
}

function entriesOf(act: Act, n: number): readonly NewEntry[] {
  if (act.act === "say")
    return [{ type: "message", id: `u${n}`, message: { role: "user", content: contentOf(act.size, act.images) } }]
  if (act.act !== "tools") return []
  const call = { type: "toolCall" as const, id: `c${n}`, name: "read", arguments: {} }
  return [
    {
      type: "message",
      id: `a${n}`,
      message: { role: "assistant", content: [{ type: "text", text: "Reading." }, call] },
    },
    {
      type: "message",
      id: `r${n}`,
      message: { role: "toolResult", toolCallId: `c${n}`, content: contentOf(act.size, act.images) },
    },
  ]
}

interface Played {
  readonly location: MemoryLocation
  readonly session: Session
  readonly open: (settings?: CompactionSettings) => Promise<Session>
}

async function start(): Promise<Played> {
  const location = createMemoryLocation()
  const base = { summarize: async () => "A short summary.", contextWindow: WINDOW, reserveTokens: 200 }
  const sessionsWith = (settings: CompactionSettings) =>
    createSessions({
      storage: createMemoryStorage({ location }),
      compaction: automaticCompaction({ ...base, ...settings }),
    })
  const session = await sessionsWith({}).create({ id: "s" })
  return { location, session, open: (settings = {}) => sessionsWith(settings).open("s") }
}

async function play({ session }: Played, act: Act, n: number): Promise<void> {
  if (act.act === "room") await makeRoom(session)
  else if (act.act === "refuse") await makeRoom(session, { error: REFUSALS[act.error] }).catch(() => undefined)
  else await session.append(entriesOf(act, n))
}

const idsOf = ({ messages }: SessionContext): ReadonlySet<string> => new Set(messages.map(({ entryId }) => entryId))

function namedBy(step: Entry, all: readonly Entry[]): ReadonlySet<string> {
  if (step["step"] === "left_out") return new Set(step["ids"] as string[])
  const last = all.findIndex(({ id }) => id === step["upTo"])
  const first = all.slice(0, last + 1).map(({ id }) => id)
  // What a compaction carries, and its summary, are before what it keeps.
  return new Set([...first, ...all.filter(({ type }) => type === "compaction").map(({ id }) => id)])
}

test("only a step that leaves messages out takes any from a context, and never the question or an unread result", async () => {
  await holdsAsync(
    fc.asyncProperty(acts, async (script) => {
      const played = await start()
      for (const [n, act] of script.entries()) {
        await play(played, act, n)
        const context = await played.session.context()
        const larger = await (await played.open({ contextWindow: 1e6 })).context()
        const out = new Set(context.shortened?.flatMap(({ how, entryId }) => (how === "left_out" ? [entryId] : [])))
        const shown = idsOf(context)
        for (const id of idsOf(larger)) expect([id, shown.has(id) || out.has(id)]).toEqual([id, true])
        const last = larger.messages.findLast(({ message, kind }) => message.role === "user" && kind === "message")
        if (last !== undefined) expect(out.has(last.entryId)).toBe(false)
        const answer = larger.messages.findLastIndex(({ message }) => message.role === "assistant")
        for (const { entryId, message } of larger.messages.slice(answer + 1))
          if (message.role === "toolResult") expect(out.has(entryId)).toBe(false)
      }
    }),
    runs(12),
  )
})

test("a step changes only the messages that it names, and no message becomes longer", async () => {
  await holdsAsync(
    fc.asyncProperty(acts, async (script) => {
      const played = await start()
      for (const [n, act] of script.entries()) {
        const before = await played.session.context()
        const known = (await storedEntries(played.location)).length
        await play(played, act, n)
        const all = await storedEntries(played.location)
        const added = all.slice(known)
        if (added.some(({ type }) => type === "compaction" || type === "message")) continue
        const named = added.flatMap((entry) => (entry["window"] === undefined ? [] : [...namedBy(entry, all)]))
        const now = await played.session.context()
        for (const { entryId, message } of before.messages) {
          const is = now.messages.find((item) => item.entryId === entryId && item.message.role === message.role)
          if (named.includes(entryId)) {
            const isLine = is?.message.role === "user" && JSON.stringify(is.message).includes("left out here")
            if (is !== undefined && !isLine)
              expect(JSON.stringify(is.message).length).toBeLessThanOrEqual(JSON.stringify(message).length)
          } else expect(is?.message).toEqual(message)
        }
      }
    }),
    runs(12),
  )
})

test("another process has the same context, and in a larger window each message is whole", async () => {
  await holdsAsync(
    fc.asyncProperty(acts, async (script) => {
      const played = await start()
      for (const [n, act] of script.entries()) await play(played, act, n)
      const window = { window: WINDOW }
      expect(await (await played.open()).context(window)).toEqual(await played.session.context(window))
      const larger = await (await played.open({ contextWindow: 1e6 })).context()
      expect(larger.shortened?.length ?? 0).toBe(0)
      const all = new Map((await storedEntries(played.location)).map((entry) => [entry.id, entry["message"]]))
      for (const { entryId, kind, message } of larger.messages)
        if (kind === "message") expect(message).toEqual(all.get(entryId))
    }),
    runs(12),
  )
})
