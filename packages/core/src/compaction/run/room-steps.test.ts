import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../../session/repository.ts"
import { automaticCompaction, compact, makeRoom, shorten } from "../index.ts"
import { startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, storedEntries, user } from "../../../test/writers.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { SessionContext } from "../../context/types.ts"
import { unitsOfTexts } from "../../context/view/step-forms.ts"
import type { Entry } from "../../format/entry.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { Session } from "../../session/types.ts"

const TOO_LONG = new Error("prompt is too long")
const TOO_MANY_BYTES = Object.assign(new Error("Request exceeds the maximum size"), { status: 413 })
const IMAGE = { type: "image" as const, data: "A".repeat(4_000), mimeType: "image/png" }
const images = (length: number): readonly object[] => Array.from({ length }, () => IMAGE)
const LONG = "word ".repeat(2_000)

/** A call and its result. */
function tool(n: number, content: string | readonly object[] = LONG): readonly NewEntry[] {
  const call = { type: "toolCall", id: `c${n}`, name: "read", arguments: {} }
  return [
    { type: "message", id: `a${n}`, message: { role: "assistant", content: [call] } },
    { type: "message", id: `r${n}`, message: { role: "toolResult", toolCallId: `c${n}`, content } },
  ] as unknown as readonly NewEntry[]
}

const asked = (id: string, ...content: readonly object[]): NewEntry =>
  ({ type: "message", id, message: { role: "user", content } }) as unknown as NewEntry

const shown = ({ shortened = [] }: SessionContext): readonly string[] =>
  shortened.map(({ entryId, how }) => `${how} ${entryId}`)

const sizes = ({ messages }: SessionContext): readonly number[] => messages.map(({ message }) => unitsOfTexts(message))

const stepsOf = (entries: readonly Entry[]): readonly Entry[] => entries.filter(({ type }) => type === "context_step")

/** Refuses until nothing is left to do, and returns the steps. */
async function refuseAll(session: Session, error: unknown = TOO_LONG): Promise<readonly string[]> {
  const steps: string[] = []
  for (;;) {
    const done = await makeRoom(session, { error }).catch(() => undefined)
    if (done === undefined) return steps
    steps.push(done.step)
  }
}

test("before a request that does not fit old results are trimmed, oldest first, as far as it needs; no summary is paid", async () => {
  const { session, reopen, told } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY, contextWindow: 12_000 }),
  })
  await session.append([user("go", "u"), ...[1, 2, 3, 4, 5].flatMap((n) => tool(n))])
  const room = await makeRoom(session)
  expect(room).toMatchObject({ step: "results", fits: true })
  const context = await session.context()
  expect(shown(context)).toEqual(["results r1", "results r2"])
  expect(context.tokens).toBe(room.tokens)
  expect(told).toEqual([])
  expect((await (await reopen()).context()).messages).toEqual(context.messages)
  expect(await makeRoom(session)).toMatchObject({ step: "none" })
})

test("old images give way to texts before a summary is paid; those of the question and of unread results stay", async () => {
  const { session, told } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY, contextWindow: 9_000, keepRecentTokens: 0 }),
  })
  await session.append([asked("u0", IMAGE, IMAGE, IMAGE), assistant("seen", "a0"), asked("u", IMAGE)])
  await session.append([...tool(1, [IMAGE]), ...tool(2, [IMAGE])])
  expect(await makeRoom(session)).toMatchObject({ step: "images", fits: true })
  expect(shown(await session.context())).toEqual(["images u0"])
  expect(told).toEqual([])
  await makeRoom(session, { contextWindow: 4_000, summarize: async () => "no" })
  const { messages } = await session.context()
  const withImages = messages.filter(({ message }) => message.content.some(({ type }) => type === "image"))
  expect(withImages.map(({ entryId }) => entryId)).toEqual(["u", "r2"])
})

test("after a refusal, when no summary is left, unread images go, then messages are cut by half each time, to 64 at last, then left out", async () => {
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 4_000 }) })
  await session.append([asked("u0", { type: "text", text: LONG }), asked("u", IMAGE, { type: "text", text: LONG })])
  await refuseAll(session)
  const steps = stepsOf(await storedEntries(location))
  const cuts = steps.flatMap(({ step, units }) => (step === "cut" ? [units as number] : []))
  expect(steps.map(({ step }) => step)).toEqual(["images", ...cuts.map(() => "cut"), "left_out", "end"])
  expect(cuts.at(-1)).toBe(64)
  for (const [index, units] of cuts.slice(1).entries())
    expect(units).toBe(Math.max(64, Math.floor((cuts[index] as number) / 2)))
  const context = await session.context()
  expect(shown(context)).toEqual(["left_out u0", "cut u"])
  expect(Math.max(...sizes(context))).toBeLessThanOrEqual(64)
  const said = context.diagnostics.filter(({ code }) => code === "shortened")
  expect(said).toMatchObject([
    { entryId: "u", message: expect.stringMatching(/about \d+ of \d+ tokens/) },
    { entries: ["u0"] },
  ])
})

test("the first cut is the largest that fits", async () => {
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 4_000 }) })
  await session.append(user("word ".repeat(10_000), "u"))
  expect(await makeRoom(session, { error: TOO_LONG })).toMatchObject({ step: "cut", fits: true })
  const units = stepsOf(await storedEntries(location))[0]?.["units"] as number
  expect(units).toBeGreaterThan(0.9 * 3_800)
  expect((await session.context()).tokens).toBeLessThanOrEqual(3_800)
})

test("a new message begins the cuts anew", async () => {
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 4_000 }) })
  await session.append(user(LONG, "u"))
  const error = new Error("prompt is too long: 3900 tokens > 3800 maximum")
  await refuseAll(session, error)
  await session.append(user(LONG, "v"))
  await makeRoom(session, { error })
  const last = stepsOf(await storedEntries(location)).at(-1)
  expect(last).toMatchObject({ step: "cut", upTo: "v" })
  expect(last?.["units"]).toBeGreaterThan(64)
})

test("a step holds as long as the window is not larger, then the context is whole and has its size again", async () => {
  const windows = { small: 4_000, large: 40_000 }
  const { session } = await startCompacting({ compaction: automaticCompaction({ windows }) })
  await session.append([{ type: "model_change", provider: "p", model: "small" }, user(LONG, "u0"), user(LONG, "u")])
  await makeRoom(session, { error: TOO_LONG })
  const small = await session.context()
  expect(shown(small)).toContain("cut u")
  const usage = { input: small.tokens + 100, output: 1 }
  await session.append({ type: "message", message: { role: "assistant", content: "ok", model: "small", usage } })
  await session.append({ type: "model_change", provider: "p", model: "large" })
  const large = await session.context({ window: 1_000 })
  expect(large.shortened ?? []).toEqual([])
  expect(large.messages[0]?.message.content).toEqual([{ type: "text", text: LONG }])
  // The report has counted the short form.
  expect(large.tokens).toBeGreaterThan(100 + sizes(large).reduce((all, own) => all + own, 0) - 10)
  await session.append({ type: "model_change", provider: "p", model: "small" })
  expect(shown(await session.context())).toContain("cut u")
})

test("too many bytes teach 0.7 of the request, never less than was accepted since, and the next compaction keeps it", async () => {
  const settings = { contextWindow: 100_000, summarize: async () => SUMMARY, keepRecentTokens: 0 }
  const { session, location } = await startCompacting({ compaction: automaticCompaction(settings) })
  const answer = (text: string): NewEntry => ({
    type: "message",
    message: { role: "assistant", content: text, model: "m" },
  })
  await session.append([
    { type: "model_change", provider: "p", model: "m" },
    asked("u0", ...images(10)),
    answer("seen"),
  ])
  await session.append(asked("u", { type: "text", text: "and?" }))
  expect(await makeRoom(session, { error: TOO_MANY_BYTES })).toMatchObject({ step: "images", fits: true })
  const refused = (await storedEntries(location)).find(({ type }) => type === "context_refusal")
  expect(refused).toMatchObject({ kind: "bytes", model: "m" })
  await session.append(answer("ok"))
  await session.append(asked("v", ...images(8)))
  const window = { window: 100_000 }
  expect(await session.context(window)).toMatchObject({ fits: false, diagnostics: [{ code: "does_not_fit" }] })
  await session.append([answer("more"), asked("w", { type: "text", text: "?" })])
  await compact(session)
  const ruler = (await storedEntries(location)).findLast(({ type }) => type === "compaction")?.["ruler"]
  expect(ruler).toMatchObject({ limits: { m: { bytes: refused?.["bytes"], acceptedBytes: expect.any(Number) } } })
  // More than 0.7 of what was refused, and less than what was accepted.
  await session.append([answer("hm"), asked("x", ...images(7))])
  expect((await session.context(window)).fits).toBe(true)
  await session.append(asked("y", IMAGE, IMAGE))
  expect((await session.context(window)).fits).toBe(false)
})

test("too many images teach the number that the provider names; then old ones give way before it refuses again", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 100_000 }) })
  for (let n = 0; n < 4; n++) await session.append([asked(`u${n}`, IMAGE), assistant("seen")])
  const error = new Error("Too much media: 0 document pages + 4 images > 3")
  expect(await makeRoom(session, { error })).toMatchObject({ step: "images", fits: true })
  expect(shown(await session.context())).toEqual(["images u0", "images u1"])
  await session.append([asked("v", IMAGE, IMAGE), assistant("seen"), user("?")])
  expect((await session.context({ window: 100_000 })).fits).toBe(false)
  expect(await makeRoom(session)).toMatchObject({ step: "images", fits: true })
})

test("the limits of the table count for `fits`, in a context of any size in tokens", async () => {
  const { session } = await startCompacting()
  await session.append({ type: "model_change", provider: "p", model: "mistral-large" })
  await session.append([asked("u", ...images(8)), assistant("seen"), user("?")])
  expect((await session.context({ window: 100_000 })).fits).toBe(true)
  await session.append(asked("v", IMAGE))
  expect(await session.context({ window: 100_000 })).toMatchObject({
    fits: false,
    diagnostics: [{ code: "does_not_fit", message: expect.stringMatching(/9 images .* 8/) as string }],
  })
})

test("a recorded step breaks the prefix, and the context names it", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 12_000 }) })
  await session.append([user("go", "u"), ...[1, 2, 3, 4, 5].flatMap((n) => tool(n))])
  expect((await session.context()).reused.brokenBy).toBeUndefined()
  await makeRoom(session)
  const { reused, shortened } = await session.context()
  expect(reused.brokenBy).toEqual({ entryId: shortened?.[0]?.since, reason: "step" })
  await session.append([...tool(6, "short")])
  expect((await session.context()).reused.brokenBy).toBeUndefined()
})

test("`buildSessionContext` obeys the steps, unless its window is larger", async () => {
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 4_000 }) })
  await session.append([user(LONG, "u0"), user(LONG, "u")])
  await makeRoom(session, { error: TOO_LONG })
  const entries = [undefined, ...(await storedEntries(location))]
  const context = await session.context()
  expect(buildSessionContext(entries).messages).toEqual(context.messages)
  expect(buildSessionContext(entries, undefined, { window: 4_000 }).tokens).toBe(context.tokens)
  expect(buildSessionContext(entries, undefined, { window: 4_001 }).shortened).toEqual([])
})

test("a question that was cut stays cut behind a summary, which is made of what the log has", async () => {
  const prompts: string[] = []
  const summarize = async ({ prompt }: { readonly prompt: string }): Promise<string> => (prompts.push(prompt), "short")
  const { session } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 6_000 }) })
  await session.append([user(`early ${LONG} late`, "u0"), assistant("ok", "a0"), user(LONG, "u")])
  await makeRoom(session, { error: TOO_LONG })
  await session.append([...tool(1, "short"), ...tool(2, "short")])
  const before = await session.context()
  expect(shown(before)).toEqual(["cut u0", "cut u"])
  await compact(session, { summarize, keepRecentTokens: 0 })
  const { messages } = await session.context()
  const cut = (of: typeof messages) => of.find(({ entryId }) => entryId === "u")
  expect(cut(messages)).toEqual(cut(before.messages))
  expect(messages[0]?.message.content).toEqual([{ type: "text", text: expect.stringContaining("short") as string }])
  expect(prompts.join("\n")).toContain(LONG.trim())
})

test("the cuts of a question that a compaction repeats do not count for a message behind it", async () => {
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 6_000 }) })
  await session.append([user(LONG, "u0"), assistant("ok", "a0"), user(LONG, "u")])
  const error = new Error("prompt is too long: 3900 tokens > 3800 maximum")
  for (let n = 0; n < 8; n++) await makeRoom(session, { error }).catch(() => undefined)
  await session.append([...tool(1, LONG.slice(0, 1_500)), ...tool(2, LONG.slice(0, 1_500)), ...tool(3)])
  await compact(session, { summarize: async () => "short", keepRecentTokens: 0 })
  await makeRoom(session, { error })
  expect(stepsOf(await storedEntries(location)).at(-1)?.["units"]).toBeGreaterThan(64)
})

test("a program without settings of compaction shows what was shortened, and can shorten further", async () => {
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 12_000 }) })
  await session.append([user("go", "u"), ...[1, 2, 3, 4, 5].flatMap((n) => tool(n))])
  expect(await makeRoom(session)).toMatchObject({ step: "results" })
  const without = await createSessions({ storage: createMemoryStorage({ location }) }).open("s")
  expect(await without.context()).toEqual(await session.context())
  expect(shown(await without.context({ window: 12_000, shorten: shorten() }))).toEqual(["results r1", "results r2"])
  expect(await makeRoom(without, { error: TOO_LONG })).toMatchObject({ step: "cut" })
})
