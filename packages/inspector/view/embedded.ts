/** The sessions in the data blocks of this file. A block of entries is parsed when one of them is needed. */
import { textOf } from "../src/model/text.ts"
import type { Row, StoredEntry, Summary } from "../src/model/types.ts"
import type { SessionData, Source } from "./source.ts"

interface Block {
  readonly from: number
  readonly to: number
  readonly element: Element
}

interface Parts {
  readonly blocks: Block[]
  readonly rows: Map<number, Row>
  summary?: Summary
}

export function embeddedSource(document: Document): Source {
  const sessions = new Map<string, Parts>()
  for (const element of document.querySelectorAll<HTMLScriptElement>("script[data-session]")) {
    const { session = "", kind, from, to } = element.dataset
    let parts = sessions.get(session)
    if (parts === undefined) sessions.set(session, (parts = { blocks: [], rows: new Map() }))
    if (kind === "entries") parts.blocks.push({ from: Number(from), to: Number(to), element })
    else if (kind === "rows") for (const row of parse(element) as readonly Row[]) parts.rows.set(row.seq, row)
    else parts.summary = parse(element) as Summary
  }
  const opened = new Map<string, SessionData>()
  return {
    first: [...sessions.keys()][0] ?? "",
    open(session) {
      const parts = sessions.get(session)
      if (parts?.summary === undefined) return undefined
      const data = opened.get(session) ?? sessionData(parts, parts.summary)
      opened.set(session, data)
      return data
    },
  }
}

function sessionData({ blocks, rows }: Parts, summary: Summary): SessionData {
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
    summary,
    rows,
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
        for (const [seq, { entry }] of [...entriesOf(block)].reverse())
          if (textOf(entry).toLowerCase().includes(wanted) && !found(seq)) return
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
