/** Sessions in a database beside LangGraph's savers in the same database, and pi's files: an append, and opening a session of 1 MB. */
import { createSqliteStorage } from "@sessions/sqlite"
import type { Scenario } from "../report.ts"
import { appended, opened } from "./compare.ts"
import { conversation } from "./conversation.ts"
import { installPeers } from "./install.ts"
import { langgraphOnSqlite } from "./langgraph.ts"
import { peerOn } from "./ours.ts"
import type { Peer } from "./peer.ts"
import { pi } from "./pi.ts"

/** Of one round. All rounds append to one session, which has 450 messages and 700 KB at the end. */
const APPENDS = 50

export function sqlitePeers(): readonly Scenario[] {
  const own = peerOn("ours", "files", (folder) => createSqliteStorage({ path: `${folder}.db`, durability: "os" }))
  return databasePeers("sqlite", own, langgraphOnSqlite)
}

export function databasePeers(group: string, own: Peer, saver: Peer): readonly Scenario[] {
  const missing = installPeers()
  if (missing !== undefined) {
    process.stderr.write(`skipped: ${missing}\n`)
    return []
  }
  return [
    {
      id: `${group}.peers.append`,
      run: () => appended(`${group}.peers.append`, own, [saver, pi], APPENDS),
    },
    {
      id: `${group}.peers.open.1mb`,
      run: () => opened(`${group}.peers.open.1mb`, conversation(1e6, undefined), own, [saver, pi]),
    },
  ]
}
