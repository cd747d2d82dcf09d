/** Prints entries, contexts, trees and lists in a few lines each. */
import type { CallState } from "@sessions/core/context"
import type { Diagnostic, Entry, SessionContext, Sessions } from "@sessions/core"
import type { CompactionResult } from "@sessions/core/compaction"
import type { SessionTree, TreeNode } from "@sessions/core/transfer"
import { entryLine, messageLine, oneLine } from "./text.ts"

const WIDTH = 72
/** A diagnostic is a sentence, so it gets more than one line. */
const DIAGNOSTIC_WIDTH = 240

export function heading(text: string): void {
  console.log(`\n${text}`)
}

export function entry(it: Entry): void {
  const { kind, text } = entryLine(it)
  row(kind, text)
}

/** What is known of a tool call without a result. */
export function call({ state, toolName, key }: CallState): void {
  row(state, `${toolName}${key === undefined ? "" : `, key ${key}`}`)
}

export function diagnostics(found: readonly Diagnostic[], most: number): void {
  for (const { code, message } of found.slice(0, most)) row(code, message, DIAGNOSTIC_WIDTH)
  if (found.length > most) row("", `… ${found.length - most} more`)
}

/** Prints the first message, which a compaction replaces, and the newest ones. */
export function context({ messages, tokens, model }: SessionContext, most = 4): void {
  const by = model === undefined ? "" : `, ${model.provider}/${model.model}`
  row(`${messages.length} messages`, `about ${tokens.toLocaleString("en-US")} tokens${by}`)
  for (const [index, { message, kind }] of messages.entries()) {
    if (index === 1 && messages.length > most + 1) row("…", "")
    if (index === 0 || index >= messages.length - most)
      row(kind === "message" ? message.role : kind, messageLine(message))
  }
}

export function compaction({ tokensBefore, tokensAfter }: CompactionResult): void {
  const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString("en-US"))
  console.log(`  about ${before} tokens before, ${after} after; the history stays in the log`)
}

/** Prints both ends of the path to the leaf, and the number of entries on other branches. */
export function tree({ roots, path }: SessionTree, ends = 3): void {
  const nodes = allNodes(roots)
  const byId = new Map(nodes.map((node) => [node.entry.id, node]))
  for (const [index, id] of path.entries()) {
    if (index === ends && path.length > 2 * ends + 1) console.log(`  … ${path.length - 2 * ends} entries`)
    if (index >= ends && index < path.length - ends && path.length > 2 * ends + 1) continue
    const node = byId.get(id)
    if (node === undefined) continue
    const { kind, text } = entryLine(node.entry)
    const mark = index === path.length - 1 ? "@" : "*"
    console.log(`  ${mark} ${id.padEnd(26)}  ${kind.padEnd(10)}  ${oneLine(text, 44)}`)
  }
  if (nodes.length > path.length) console.log(`  ${nodes.length - path.length} more on other branches`)
}

export async function list(sessions: Sessions): Promise<void> {
  const { sessions: infos, next } = await sessions.list({ limit: 4 })
  for (const info of infos) {
    const size = `${info.messageCount} messages, ${formatBytes(info.bytes)}`
    console.log(`  ${info.id}  ${size.padEnd(24)}  ${oneLine(info.title ?? info.firstPrompt ?? "", 32)}`)
  }
  if (next !== undefined) console.log("  … and older ones")
}

function formatBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function row(name: string, text: string, units = WIDTH): void {
  console.log(`  ${oneLine(name, 18).padEnd(12)}  ${oneLine(text, units)}`.trimEnd())
}

function allNodes(roots: readonly TreeNode[]): TreeNode[] {
  const nodes = [...roots]
  for (const node of nodes) nodes.push(...node.children)
  return nodes
}
