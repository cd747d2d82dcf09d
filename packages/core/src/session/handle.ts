/** The handle that a user holds: checks, and short ways to say what `append` can say. */
import type { SessionContext } from "../context/types.ts"
import { SessionError } from "../errors.ts"
import type { CompactionResult, CompactOptions } from "../compaction/types.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { ContentBlock, Entry, Header } from "../format/records.ts"
import type { CallOptions, Head, PartInfo, Seq } from "../storage/contract.ts"
import { buildTree } from "../tree/nodes.ts"
import { pathTo } from "../tree/path.ts"
import type { SessionEvents } from "./events.ts"
import type { SessionInfo } from "./info.ts"
import { readEntries, readInfo, readParts } from "./reading-log.ts"
import { findEntry, readContext, readMessages } from "./reading.ts"
import { BRANCH_TARGET } from "./shared-session.ts"
import type { SharedSession } from "./shared-session.ts"
import { nestedTurn } from "./turn-lock.ts"
import { runTurn } from "./turn.ts"
import type {
  AppendOptions,
  AppendResult,
  ContextOptions,
  MessagesOptions,
  MessagesPage,
  Session,
  SessionTree,
  TurnContext,
} from "./types.ts"

export class SessionHandle implements Session {
  readonly #shared: SharedSession
  /** Lets the last handle release what they share. */
  readonly #release: () => Promise<void>
  /** Made for a turn: its appends are the turn's, and it cannot start another. */
  readonly #inTurn: boolean
  #closed = false

  constructor(shared: SharedSession, release: () => Promise<void>, inTurn = false) {
    this.#shared = shared
    this.#release = release
    this.#inTurn = inTurn
  }

  get id(): string {
    return this.#shared.id
  }

  get header(): Header {
    return this.#shared.state.header
  }

  get leafId(): string | null {
    return this.#shared.state.leafId
  }

  get head(): Head | undefined {
    return this.#shared.state.head
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#shared.diagnostics
  }

  append(entries: NewEntry | readonly NewEntry[], o?: AppendOptions): Promise<AppendResult> {
    if (this.#closed) return Promise.reject(closed(this.id))
    return this.#shared.append(Array.isArray(entries) ? (entries as readonly NewEntry[]) : [entries as NewEntry], o)
  }

  async turn<T>(fn: (session: Session, turn: TurnContext) => Promise<T> | T, o: CallOptions = {}): Promise<T> {
    const shared = this.#open()
    if (this.#inTurn) throw nestedTurn(this.id)
    const inner = new SessionHandle(shared, async () => undefined, true)
    return runTurn(shared, (turn) => fn(inner, turn), o)
  }

  async context(o?: ContextOptions): Promise<SessionContext> {
    return readContext(this.#open(), o)
  }

  async messages(o?: MessagesOptions): Promise<MessagesPage> {
    return readMessages(this.#open(), o)
  }

  entries(range: { readonly from?: Seq; readonly to?: Seq } = {}, o: CallOptions = {}): AsyncIterable<Entry> {
    return readEntries(this.#open(), range, o)
  }

  async entry(id: string, o?: CallOptions): Promise<Entry | undefined> {
    const shared = this.#open()
    const seq = await findEntry(shared, id, o)
    return seq === undefined ? undefined : shared.state.log.at(seq)
  }

  async tree(o: CallOptions = {}): Promise<SessionTree> {
    const shared = this.#open()
    const { state } = shared
    await shared.store.untilKnown(
      () => state.log,
      () => (state.log.complete ? {} : { older: true, hint: 0 }),
      o,
    )
    const leaf = state.leafId === null ? undefined : state.log.find(state.leafId)
    const path = leaf === undefined ? [] : pathTo(state.log, leaf).seqs.map((seq) => (state.log.at(seq) as Entry).id)
    return { roots: buildTree(state.log), leafId: state.leafId, path, diagnostics: shared.diagnostics }
  }

  async branch(id: string, o?: AppendOptions): Promise<AppendResult> {
    return this.#appendAt("leaf", await this.#known(id), {}, o)
  }

  async resetLeaf(o?: AppendOptions): Promise<AppendResult> {
    return this.#appendAt("leaf", null, {}, o)
  }

  async branchWithSummary(
    id: string | null,
    summary: string,
    o: AppendOptions & { readonly details?: unknown; readonly fromExtension?: boolean } = {},
  ): Promise<AppendResult> {
    const { details, fromExtension, ...rest } = o
    const target = id === null ? null : await this.#known(id)
    const fromId = this.#open().state.leafId ?? "root"
    const more = {
      ...(details === undefined ? {} : { details }),
      ...(fromExtension === undefined ? {} : { fromExtension }),
    }
    return this.#appendAt("branch_summary", target, { fromId, summary, ...more }, rest)
  }

  async label(id: string, label: string | null, o?: AppendOptions): Promise<AppendResult> {
    const targetId = await this.#known(id)
    return this.append(label === null ? { type: "label", targetId } : { type: "label", targetId, label }, o)
  }

  async tombstone(id: string, o?: AppendOptions): Promise<AppendResult> {
    return this.append({ type: "tombstone", targetId: await this.#known(id) }, o)
  }

  async edit(
    id: string,
    replacement: null | { readonly content: string | readonly ContentBlock[] },
    o?: AppendOptions,
  ): Promise<AppendResult> {
    const targetId = await this.#known(id)
    const shared = this.#open()
    const target = shared.state.log.at(shared.state.log.find(targetId) as Seq)
    if (target?.type === "compaction") {
      const message = `Entry ${targetId} is a compaction. Delete it (tombstone) to have its history back, or compact again.`
      throw new SessionError("invalid", message, { session: this.id })
    }
    return this.append({ type: "context_edit", targetId, replacement }, o)
  }

  async title(
    title: string | null,
    o: AppendOptions & { readonly source?: "user" | "auto" } = {},
  ): Promise<AppendResult> {
    const { source = "user", ...rest } = o
    return this.append({ type: "title_change", title: title === "" ? null : title, source }, rest)
  }

  async metadata(key: string, value: unknown, o?: AppendOptions): Promise<AppendResult> {
    return this.append({ type: "metadata", key, value }, o)
  }

  async compact(o: CompactOptions): Promise<CompactionResult> {
    const shared = this.#open()
    const { compactSession } = await import("./compact.ts")
    return compactSession(shared, o)
  }

  async info(o?: CallOptions): Promise<SessionInfo> {
    return readInfo(this.#open(), o)
  }

  async parts(o?: CallOptions): Promise<{ readonly bytes: number; readonly parts: readonly PartInfo[] }> {
    return readParts(this.#open(), o)
  }

  on<K extends keyof SessionEvents>(event: K, listener: (event: SessionEvents[K]) => void): () => void {
    return this.#open().events.on(event, listener)
  }

  async flush(o: CallOptions = {}): Promise<void> {
    const shared = this.#open()
    await shared.drain()
    if (shared.state.head !== undefined) await shared.storage.sync?.(this.id, o)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#release()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #open(): SharedSession {
    if (this.#closed) throw closed(this.id)
    return this.#shared
  }

  /** The id, if the log has an entry with it. */
  async #known(id: string): Promise<string> {
    if ((await findEntry(this.#open(), id)) !== undefined) return id
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(id)} in session ${this.id}.`, {
      session: this.id,
    })
  }

  #appendAt(
    type: "leaf" | "branch_summary",
    target: string | null,
    payload: object,
    o: AppendOptions | undefined,
  ): Promise<AppendResult> {
    return this.append({ type, ...payload, [BRANCH_TARGET]: target } as unknown as NewEntry, o)
  }
}

function closed(session: string): SessionError {
  return new SessionError("closed", `This handle on session ${session} was closed. Open the session again.`, {
    session,
  })
}
