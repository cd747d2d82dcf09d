/**
 * A prompt history of 1,000,000 prompts in a SQLite file: the newest prompts, and searches of the kinds that cost differently. The value is
 * the time of the slowest one.
 */
import { join } from "node:path"
import type { PromptHistory } from "@sessions/history"
import { createSqliteHistory } from "@sessions/history/sqlite"
import { withFolder } from "../folder.ts"
import { median, type Result, runtime, type Scenario } from "../report.ts"
import { milliseconds, ROUNDS, verify } from "../rounds.ts"
import { open } from "./raw.ts"

const FOLDERS = 1_000
const WORDS = 20_000
const LETTERS = "etaoinshrdlucmfwygpbvkqjxz"
/** In a third of the prompts or more, as the words of people are. */
const FREQUENT = ["the", "please", "test", "fix", "a", "function", "in", "to"] as const
/** In two prompts. */
const RARE = "zebrafish"

export function historyScenarios(quick: boolean): readonly Scenario[] {
  return [{ id: "history.search", run: () => measure(quick ? 20_000 : 1_000_000, quick ? 5 : 3 * ROUNDS) }]
}

function measure(prompts: number, rounds: number): Promise<Result> {
  return withFolder(async (folder) => {
    const path = join(folder, "history.db")
    await make(path, prompts)
    const history = createSqliteHistory({ path })
    // Makes the index of the words, because it lacks all rows.
    const indexMs = await milliseconds(() => history.recent({ limit: 1 }))
    const small = `/home/someone/project-${FOLDERS - 1}`
    const calls: Readonly<Record<string, (h: PromptHistory) => Promise<readonly unknown[]>>> = {
      recentMs: (h) => h.recent(),
      recentOfFolderMs: (h) => h.recent({ cwd: small }),
      earlierMs: (h) => h.recent({ before: prompts / 2 }),
      oneLetterMs: (h) => h.search("a"),
      frequentMs: (h) => h.search("test"),
      rareMs: (h) => h.search(RARE),
      frequentAndRareMs: (h) => h.search(`test ${RARE}`),
      frequentTogetherMs: (h) => h.search("please fix the test function"),
      oneLetterOfFolderMs: (h) => h.search("f", { cwd: small }),
      most1000Ms: (h) => h.search("a", { limit: 1_000 }),
      absentMs: (h) => h.search("qqqqq"),
    }
    verify((await history.search(RARE)).length === 2, `${RARE} is in two prompts`)
    const work: Record<string, number> = { prompts, indexMs: Math.round(indexMs) }
    let slowest: readonly number[] = [0]
    for (const [name, call] of Object.entries(calls)) {
      const times: number[] = []
      for (let round = 0; round <= rounds; round++) {
        const time = await milliseconds(() => call(history))
        if (round > 0) times.push(time)
      }
      work[name] = Number(median(times).toPrecision(2))
      if (median(times) > median(slowest)) slowest = times
    }
    await history.close()
    const spread = [Math.min(...slowest), Math.max(...slowest)] as const
    return { id: "history.search", runtime: runtime(), value: median(slowest), unit: "ms", spread, rounds, work }
  })
}

/** Adds rows without their index, which the next opening makes at once. */
async function make(path: string, prompts: number): Promise<void> {
  const history = createSqliteHistory({ path })
  await history.recent()
  await history.close()
  const db = open(path)
  db.exec("DROP TRIGGER history_ai; BEGIN")
  const insert = db.prepare("INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)")
  const random = randomFrom(1)
  const vocabulary = Array.from({ length: WORDS }, () => wordOf(random))
  vocabulary.splice(0, FREQUENT.length, ...FREQUENT)
  // Word n is used about as often as 1/n says.
  const word = (): string => vocabulary[Math.floor(WORDS ** random()) - 1] as string
  for (let n = 0; n < prompts; n++) {
    const words = Array.from({ length: 4 + Math.floor(random() * 14) }, word)
    if (n === 4 || n === prompts / 2) words.push(RARE)
    insert.run(words.join(" "), 1_700_000_000 + 30 * n, `/home/someone/project-${Math.floor(FOLDERS ** random())}`)
  }
  db.exec("COMMIT")
  db.close()
}

function wordOf(random: () => number): string {
  const length = 2 + Math.floor(random() * 8)
  return Array.from({ length }, () => LETTERS[Math.floor(random() ** 1.7 * LETTERS.length)]).join("")
}

/** A linear congruential generator, the same each time. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
}
