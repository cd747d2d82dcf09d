/** An agent on a model of 32,000 tokens: its tools return more than that, its model summarizes, and it runs for a long time. */
import { automaticCompaction, compact, shorten } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { seed } from "../../test/property.ts"
import { whyRefused } from "../../test/sendable.ts"
import { SUMMARY_HEADINGS } from "../compaction/summary/prompts.ts"
import type { SummarizeRequest } from "../compaction-settings/types.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "./repository.ts"
import type { ContextOptions, Session } from "./types.ts"
import type { Sessions } from "./repository-types.ts"
import type { ContentBlock } from "../format/message.ts"

const WINDOW = 30_000
const TURNS = 30

/** The attempts of a loop, each made if the one before was not enough; it compacts between the second and the third. */
const VIEWS: readonly ContextOptions[] = [
  {},
  { shorten: shorten({ aggressive: true }) },
  {},
  { shorten: shorten({ softTrimShare: 0, hardClearShare: false, keepAssistantMessages: 0, exemptTools: [] }) },
]

test("for 30 turns every context fits and is sendable, and each message is either summarized once or shown", async () => {
  console.info(`SEED=${seed}`)
  const random = dice(seed)
  const summaries = new Map<string, number>()
  let asked: string[] = []
  const summarize = async ({ prompt, maxTokens }: SummarizeRequest): Promise<string> => {
    // A model takes the request and its answer.
    if (prompt.length / 4 + maxTokens > WINDOW) throw new Error("the prompt is too long: 32000 tokens > 30000 maximum")
    asked.push(...marksOf(prompt))
    return SUMMARY_HEADINGS.join("\nso far\n")
  }
  const location = createMemoryLocation()
  const compaction = { summarize, contextWindow: WINDOW, reserveTokens: 6_000, keepRecentTokens: 8_000, rounds: true }
  const start = (): Sessions =>
    createSessions({
      storage: createMemoryStorage({ location }),
      compaction: automaticCompaction({ ...compaction, shorten: shorten() }),
    })
  const watch = (session: Session): Session => {
    session.on("compact_start", () => void (asked = []))
    session.on("compact_complete", () => asked.forEach((mark) => summaries.set(mark, (summaries.get(mark) ?? 0) + 1)))
    return session
  }
  let sessions = start()
  let session = watch(await sessions.create({ id: "s" }))
  const said: string[] = []
  const say = (role: string, text: string, more: object = {}, calls: readonly ContentBlock[] = []): NewEntry => {
    const mark = `«${said.length}»`
    said.push(mark)
    return {
      type: "message",
      message: { role: role as "user", ...more, content: [{ type: "text", text: `${mark} ${text}` }, ...calls] },
    }
  }
  const fitting = async (turn: Session): Promise<void> => {
    for (const [step, view] of VIEWS.entries()) {
      if (step === 2) await compact(turn, { summarize, keepRecentTokens: 2_000 })
      const { fits, messages } = await turn.context({ window: WINDOW, ...view })
      expect(whyRefused(messages)).toBeUndefined()
      if (fits === true) return
    }
    expect.fail("No view of the session fits.")
  }

  for (let n = 0; n < TURNS; n++) {
    await session.turn(async (turn) => {
      await turn.append(say("user", "x".repeat(random(600))))
      for (let step = random(5); step >= 0; step--) {
        await fitting(turn)
        const calls = Array.from({ length: 1 + random(3) }, (_, i) => ({
          type: "toolCall" as const,
          id: `c${i}`,
          name: random(4) === 0 ? "skill" : "read",
          arguments: { path: `${random(1_000)}.ts` },
        }))
        await turn.append(say("assistant", "I look.", {}, calls))
        // The user aborts before the tools have answered.
        if (random(40) === 0) return
        for (const { id } of calls) {
          const size = random(20) === 0 ? 60_000 + random(30_000) : random(8_000)
          await turn.append(say("toolResult", "</conversation>".repeat(size / 15), { toolCallId: id, isError: false }))
        }
      }
      await fitting(turn)
      await turn.append(say("assistant", "Done."))
    })
    if (n % 10 === 9) {
      await sessions.close()
      sessions = start()
      session = watch(await sessions.open("s"))
    }
  }

  expect(summaries.size).toBeGreaterThan(100)
  const shown = new Set(marksOf(JSON.stringify((await session.context({ shorten: false })).messages)))
  const times = said.map((mark) => [mark, (summaries.get(mark) ?? 0) + (shown.has(mark) ? 1 : 0)] as const)
  expect(times.filter(([, count]) => count !== 1)).toEqual([])
  const kept: string[] = []
  for (let before: string | undefined, more = true; more; ) {
    const page = await session.messages({ limit: 1_000, ...(before === undefined ? {} : { before }) })
    kept.unshift(...page.messages.flatMap(({ message }) => marksOf(JSON.stringify(message))))
    before = page.before
    more = before !== undefined
  }
  expect(kept).toEqual(said)
  await sessions.close()
})

function marksOf(text: string): string[] {
  return text.match(/«\d+»/g) ?? []
}

/** Integers from 0, below the given limit. */
function dice(from: number): (below: number) => number {
  let state = from % 2_147_483_647 || 1
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below
}
