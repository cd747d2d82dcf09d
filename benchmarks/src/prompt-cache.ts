/**
 * What a session costs with a provider's cache of prompts, for some ways to keep a context small. No network: the requests are the contexts
 * of a session in memory. Each is compared with the one before, and what both begin with is read from the cache. `--docs` writes the table
 * into `docs/prompt-caching.md`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import {
  type ContextOptions,
  createSessions,
  estimateMessage,
  type NewEntry,
  type SessionContext,
} from "@sessions/core"
import { autoCompact, automaticCompaction, shorten } from "@sessions/core/compaction"
import { createMemoryStorage } from "@sessions/memory"

/** Prices of a token, as parts of that of a plain token of input. */
const PRICE = { read: 0.1, written: 1.25, answered: 5 }

const TURNS = 80
/** A file of 500 lines. */
const RESULT = "line of a file 12\n".repeat(517)
const SUMMARY = "What was done, and what is next. ".repeat(100)

interface Way {
  readonly name: string
  /** The window of the model, in tokens. */
  readonly window: number
  readonly shorten?: ContextOptions["shorten"]
  readonly compacts?: true
  /** Changes the messages of the context, as a program may do that does not leave it to the session. */
  readonly change?: (messages: SessionContext["messages"]) => SessionContext["messages"]
}

const WAYS: readonly Way[] = [
  { name: "nothing is left out", window: 200_000 },
  { name: "`shorten()`", window: 200_000, shorten: shorten() },
  { name: "`shorten({ softTrimShare: false })`", window: 200_000, shorten: shorten({ softTrimShare: false }) },
  { name: "`shorten()`, in a window of 100,000", window: 100_000, shorten: shorten() },
  { name: "compaction, in a window of 100,000", window: 100_000, compacts: true },
  { name: "compaction and `shorten()`, in a window of 100,000", window: 100_000, compacts: true, shorten: shorten() },
  { name: "only the last 100 messages", window: 200_000, change: (messages) => messages.slice(-100) },
  { name: "the time of day in the first message", window: 200_000, change: withTime },
]

interface Cost {
  readonly requests: number
  readonly breaks: number
  readonly largest: number
  readonly price: number
}

const rows: string[] = []
let whole: number | undefined
for (const way of WAYS) {
  const { requests, breaks, largest, price } = await costOf(way)
  whole ??= price
  const cells = [way.name, `${breaks} of ${requests}`, round(largest), round(price), (price / whole).toFixed(2)]
  rows.push(`| ${cells.join(" | ")} |`)
}
const table = [
  "| way | requests that break the prefix | largest request, tokens | price, in plain tokens | of the price of the first |",
  "|---|---|---|---|---|",
  ...rows,
].join("\n")
if (process.argv.includes("--docs")) writeTable(table)
else console.log(table)

/** The requests of a session in which each turn reads one file. */
async function costOf(way: Way): Promise<Cost> {
  let price = 0
  const summarize = async ({ prompt }: { readonly prompt: string }): Promise<string> => {
    price += prompt.length / 4 + (PRICE.answered * SUMMARY.length) / 4
    return SUMMARY
  }
  const compaction = { contextWindow: way.window, ...(way.compacts === undefined ? {} : { summarize }) }
  const session = await createSessions({
    storage: createMemoryStorage(),
    compaction: automaticCompaction(compaction),
  }).create()
  let [requests, breaks, largest] = [0, 0, 0]
  let last: readonly string[] = []
  const ask = async (answer: NewEntry): Promise<void> => {
    const o = way.shorten === undefined ? {} : { window: way.window, shorten: way.shorten }
    const { messages } = await session.context(o)
    const sent = way.change?.(messages) ?? messages
    const texts = sent.map(({ message }) => JSON.stringify(message))
    const at = texts.findIndex((text, index) => text !== last[index])
    const same = at < 0 ? texts.length : at
    const tokens = sent.map(({ message }) => estimateMessage(message))
    price += PRICE.read * sum(tokens.slice(0, same)) + PRICE.written * sum(tokens.slice(same))
    requests++
    if (same < last.length) breaks++
    largest = Math.max(largest, sum(tokens))
    last = texts
    await session.append(answer)
  }
  for (let turn = 0; turn < TURNS; turn++) {
    await session.append({ type: "message", message: { role: "user", content: `question ${turn}` } })
    const call = { type: "toolCall" as const, id: `c${turn}`, name: "read", arguments: { turn } }
    await ask({ type: "message", message: { role: "assistant", content: [call] } })
    await session.append({
      type: "message",
      message: { role: "toolResult", toolCallId: call.id, toolName: "read", isError: false, content: RESULT },
    })
    await ask({ type: "message", message: { role: "assistant", content: `answer ${turn}` } })
    if (way.compacts === true) await autoCompact(session)
  }
  return { requests, breaks, largest, price }
}

function withTime([first, ...rest]: SessionContext["messages"]): SessionContext["messages"] {
  if (first === undefined) return []
  const now = { type: "text" as const, text: `It is ${rest.length} seconds past.` }
  return [{ ...first, message: { ...first.message, content: [now, ...first.message.content] } }, ...rest]
}

function writeTable(text: string): void {
  const page = new URL("../../docs/prompt-caching.md", import.meta.url)
  const [begin, end] = ["<!-- table: written by `pnpm bench:prompt-cache --docs` -->\n", "\n<!-- end of the table -->"]
  const [before = "", rest = ""] = readFileSync(page, "utf8").split(begin)
  writeFileSync(page, `${before}${begin}${text}${rest.slice(rest.indexOf(end))}`)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function round(tokens: number): string {
  return (Math.round(tokens / 1_000) * 1_000).toLocaleString("en")
}
