/** The sessions in the data blocks of this file. A block of entries is parsed when one of them is needed. */
import { textOf } from "../src/model/text.ts"
import type { ContextView, Row, StoredEntry, Summary } from "../src/model/types.ts"
import type { Opened, SessionData, Source } from "./source.ts"

interface Block {
  readonly from: number
  readonly to: number
  readonly element: Element
}

interface Parts {
  readonly blocks: Block[]
  readonly rows: Map<number, Row>
  summary?: Summary
  context?: Element
}

export function embeddedSource(document: Document): Source {
  const sessions = new Map<string, Parts>()
  for (const element of document.querySelectorAll<HTMLScriptElement>("script[data-session]")) {
    const { session = "", kind, from, to } = element.dataset
    let parts = sessions.get(session)
    if (parts === undefined) sessions.set(session, (parts = { blocks: [], rows: new Map() }))
    if (kind === "entries") parts.blocks.push({ from: Number(from), to: Number(to), element })
    else if (kind === "rows") for (const row of parse(element) as readonly Row[]) parts.rows.set(row.seq, row)
    else if (kind === "context") parts.context = element
    else parts.summary = parse(element) as Summary
  }
  const opened = new Map<string, Opened>()
  for (const [id, parts] of sessions)
    if (parts.summary !== undefined) opened.set(id, { data: sessionData(parts, parts.summary) })
  return {
    first: [...sessions.keys()][0] ?? "",
    peek: (session) => opened.get(session) ?? { problem: `This page has no session ${session}.` },
    open: () => () => undefined,
  }
}

function sessionData({ blocks, rows, context }: Parts, summary: Summary): SessionData {
  const parsed = new Map<Block, ReadonlyMap<number, StoredEntry>>()
  const entriesOf = (block: Block): ReadonlyMap<number, StoredEntry> => {
    let entries = parsed.get(block)
    if (entries === undefined) {
      entries = new Map(parse(block.element) as readonly (readonly [number, StoredEntry])[])
      parsed.set(block, entries)
      // What was shown long ago is parsed again when it is needed.
      if (parsed.size > KEPT_BLOCKS) parsed.delete(parsed.keys().next().value as Block)
    }
    return entries
  }
  return {
    whole: summary,
    summary,
    rows,
    async context() {
      if (context === undefined) throw new Error("This page has no context.")
      return parse(context) as ContextView
    },
    async load(seqs) {
      const found = new Map<number, StoredEntry>()
      for (const seq of seqs) {
        const block = blockAt(blocks, seq)
        const stored = block === undefined ? undefined : entriesOf(block).get(seq)
        if (stored !== undefined) found.set(seq, stored)
      }
      return found
    },
    async find(words, found, signal) {
      const wanted = words.toLowerCase()
      for (const block of blocks.toReversed()) {
        if (signal.aborted) return
        for (const [seq, { entry }] of [...entriesOf(block)].reverse()) {
          const row = rows.get(seq)
          if (row !== undefined && textOf(entry).toLowerCase().includes(wanted) && !found(row)) return
        }
        // The page stays usable between two blocks.
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
    },
  }
}

const KEPT_BLOCKS = 32

/** By bisection: blocks are in log order. */
function blockAt(blocks: readonly Block[], seq: number): Block | undefined {
  let low = 0
  let high = blocks.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const block = blocks[middle] as Block
    if (seq < block.from) high = middle - 1
    else if (seq > block.to) low = middle + 1
    else return block
  }
  return undefined
}

function parse({ textContent }: Element): unknown {
  return JSON.parse(textContent ?? "null")
}
