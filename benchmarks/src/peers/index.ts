/** Compares ours with other programs, on the same conversation and in one run: files with files, memory with memory. */
import type { Scenario } from "../report.ts"
import { claude } from "./claude.ts"
import { appended, listed, opened } from "./compare.ts"
import { conversation } from "./conversation.ts"
import { installPeers } from "./install.ts"
import { openai } from "./openai.ts"
import { ours, oursInMemory, oursOpenedInMemory } from "./ours.ts"
import type { Peer } from "./peer.ts"
import { pi } from "./pi.ts"
import { plain } from "./plain.ts"
import { sqlite } from "./sqlite.ts"

export function peerScenarios(quick: boolean): readonly Scenario[] {
  const missing = installPeers()
  if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`)
  const installed = missing === undefined ? [pi, claude] : []
  const files = [...installed, plain, sqlite]
  const memory = missing === undefined ? [openai] : []
  const size = quick ? 0.1 : 1
  const open = (id: string, megabytes: number, own: Peer, others: readonly Peer[], kept?: number): Scenario => ({
    id,
    run: () => opened(id, conversation(megabytes * 1e6 * size, kept), own, others),
  })
  return [
    open("peers.open.50mb", 50, ours, files),
    open("peers.open.116mb", 116, ours, files),
    open("peers.open.50mb.compacted", 50, ours, [...installed, sqlite], 60),
    open("peers.open.116mb.compacted", 116, ours, [...installed, sqlite], 60),
    ...(memory.length > 0 ? [open("peers.open.memory", 10, oursInMemory, [...memory, oursOpenedInMemory])] : []),
    { id: "peers.append", run: () => appended("peers.append", ours, files, quick ? 500 : 3_000) },
    ...(memory.length > 0
      ? [{ id: "peers.append.memory", run: () => appended("peers.append.memory", oursInMemory, memory, 3_000) }]
      : []),
    { id: "peers.list.1000", run: () => listed("peers.list.1000", files, quick ? 100 : 1_000) },
  ]
}
