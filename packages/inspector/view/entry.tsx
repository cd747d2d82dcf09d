/** One entry of the conversation: its head with time, model, usage and link, its content, and on demand its stored line. */
import type { ComponentChildren, VNode } from "preact"
import { useContext, useState } from "preact/hooks"
import { fieldsOf, stringOf } from "../src/model/fields.ts"
import { preview, textOf } from "../src/model/text.ts"
import type { Row, StoredEntry } from "../src/model/types.ts"
import { Content, Json, type ResultOf, Text } from "./blocks.tsx"
import { ChangesContext, EntryChanges } from "./changes.tsx"
import { formatCost, formatNumber, formatTime } from "./format.ts"
import { toHash } from "./route.ts"
import { verbatim } from "./verbatim.tsx"

export interface EntryContext {
  /** For links; undefined for the first session of the page. */
  readonly session: string | undefined
  readonly resultOf: ResultOf
  /** The nearest entry with an id. */
  readonly rowOf: (id: string) => Row | undefined
  /** Seqs of entries that the summary of a compaction has replaced in the context. */
  readonly replaced: ReadonlySet<number>
  /** The last edit of an entry, by its seq. */
  readonly edits: ReadonlyMap<number, Row>
  /** The entry that the address names. */
  readonly target: number | undefined
  readonly replacedBy: (row: Row) => readonly Row[]
}

interface EntryProps {
  readonly row: Row
  readonly stored: StoredEntry
  readonly context: EntryContext
  /** What follows the content, such as the session of a subagent. */
  readonly children?: ComponentChildren
}

export function elementId(session: string | undefined, seq: number): string {
  return session === undefined ? `entry-${seq}` : `entry-${session}-${seq}`
}

export function EntryCard({ row, stored, context, children }: EntryProps): VNode {
  const [raw, setRaw] = useState(false)
  const [changing, setChanging] = useState(false)
  const canChange = useContext(ChangesContext) !== undefined && context.session !== undefined
  const { session, target, replaced } = context
  const edit = context.edits.get(row.seq)
  const isEdited = edit !== undefined && edit.text !== row.text
  const kind = kindOf(row)
  const classes = [
    "entry",
    kind,
    ...(row.seq === target ? ["target"] : []),
    ...(replaced.has(row.seq) ? ["replaced"] : []),
  ]
  const id = elementId(session, row.seq)
  return (
    <article
      id={id}
      class={classes.join(" ")}
      tabIndex={-1}
      aria-label={`${nameOf(row)}, ${formatTime(row.timestamp)}`}
    >
      <header>
        <span class="kind">{nameOf(row)}</span>
        {row.model === undefined ? null : <span class="model">{row.model}</span>}
        {row.label === undefined ? null : <span class="badge label">{row.label}</span>}
        {row.deleted === true ? <span class="badge bad">deleted</span> : null}
        {isEdited ? <span class="badge warn">{edit.text === "" ? "left out of the context" : "edited"}</span> : null}
        {replaced.has(row.seq) ? <span class="badge">summarized</span> : null}
        <span class="facts">
          {row.call === true ? <span>{usageLine(row)}</span> : null}
          <time dateTime={row.timestamp}>{formatTime(row.timestamp)}</time>
          <a
            class="anchor"
            href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: row.id })}
          >
            <span aria-hidden="true">#</span>
            <span class="hidden">Link to this entry</span>
          </a>
          <button type="button" aria-expanded={raw} onClick={() => setRaw(!raw)}>
            raw
          </button>
          {canChange ? (
            <button type="button" aria-expanded={changing} onClick={() => setChanging(!changing)}>
              change
            </button>
          ) : null}
        </span>
      </header>
      {changing ? <EntryChanges row={row} entry={stored.entry} session={session} isEdited={isEdited} /> : null}
      {raw ? <RawLine row={row} stored={stored} /> : null}
      <div class="body">
        <Body row={row} stored={stored} context={context} />
      </div>
      {children}
    </article>
  )
}

/** The stored bytes if there are any, and the same for people. */
function RawLine({ row, stored: { entry, raw } }: { readonly row: Row; readonly stored: StoredEntry }): VNode {
  const note =
    raw === null
      ? "The log has another version, the line cannot be read, or redaction left it out; this is the entry as it was read."
      : raw === undefined
        ? `Line ${row.seq} of the log, as stored.`
        : `Line ${row.seq} of the log, as stored; blobs are references.`
  return (
    <div class="raw">
      <p class="note">{note}</p>
      <pre>{verbatim(raw ?? JSON.stringify(entry))}</pre>
    </div>
  )
}

function Body({ row, stored: { entry }, context }: Omit<EntryProps, "children">): VNode {
  const fields: Readonly<Record<string, unknown>> = entry
  switch (entry.type) {
    case "message":
      return <MessageBody message={fieldsOf(fields["message"])} context={context} />
    case "custom_message":
      return fields["display"] === false ? (
        <details class="fold">
          <summary>{stringOf(fields["customType"]) ?? "custom"}: hidden from people, sent to the model</summary>
          <Content content={fields["content"]} />
        </details>
      ) : (
        <Content content={fields["content"]} />
      )
    case "compaction":
      return <CompactionBody row={row} summary={fields["summary"]} context={context} />
    case "branch_summary":
      return <Text text={stringOf(fields["summary"]) ?? ""} plain={false} />
    case "context_edit":
    case "tombstone":
    case "label":
      return <TargetBody fields={fields} context={context} />
    case "custom":
      return (
        <details class="fold">
          <summary>{stringOf(fields["customType"]) ?? "custom"}</summary>
          <Json value={fields["data"]} />
        </details>
      )
    case "session_init":
      return (
        <details class="fold">
          <summary>System prompt and tools</summary>
          <Text text={stringOf(fields["systemPrompt"]) ?? ""} plain />
          <Json value={fields["tools"]} />
        </details>
      )
    default:
      return <p class="event">{textOf(entry)}</p>
  }
}

function MessageBody({
  message,
  context,
}: {
  readonly message: Readonly<Record<string, unknown>>
  readonly context: EntryContext
}): VNode {
  const { role, content, command, code, output, stopReason, errorMessage } = message
  const parts = [command, code, output].filter((part) => typeof part === "string")
  if (role === "system")
    return (
      <details class="fold">
        <summary>System prompt</summary>
        <Content content={content} plain />
      </details>
    )
  return (
    <>
      <Content content={content} plain={role === "toolResult"} resultOf={context.resultOf} />
      {parts.map((part, index) => (
        <Text key={index} text={part} plain />
      ))}
      {stopReason === "error" || stopReason === "aborted" ? (
        <p class="note bad">
          {stopReason === "error" ? "The answer failed" : "The answer was aborted"}
          {typeof errorMessage === "string" ? `: ${errorMessage}` : "."}
        </p>
      ) : null}
    </>
  )
}

function CompactionBody(o: { readonly row: Row; readonly summary: unknown; readonly context: EntryContext }): VNode {
  const { row, summary, context } = o
  const replaced = context.replacedBy(row)
  const before = row.tokensBefore === undefined ? "unknown" : formatNumber(row.tokensBefore)
  return (
    <>
      <p class="note">Tokens before: {before}. The model gets this summary in place of the entries that it replaced.</p>
      <Text text={stringOf(summary) ?? ""} plain={false} />
      <Replaced rows={replaced} session={context.session} />
    </>
  )
}

export function Replaced({
  rows,
  session,
}: {
  readonly rows: readonly Row[]
  readonly session: string | undefined
}): VNode {
  if (rows.length === 0) return <p class="note">It replaced no message.</p>
  const of = session === undefined ? {} : { session }
  return (
    <details class="fold">
      <summary>Replaced {rows.length === 1 ? "one message" : `${formatNumber(rows.length)} messages`}</summary>
      <ol class="entries">
        {rows.slice(0, MAX_REPLACED).map((one) => (
          <li key={one.seq}>
            <a href={toHash({ ...of, tab: "conversation", entry: one.id })}>
              <span class="kind">{nameOf(one)}</span> {one.text}
            </a>
          </li>
        ))}
      </ol>
      {rows.length > MAX_REPLACED ? <p class="note">and {formatNumber(rows.length - MAX_REPLACED)} more</p> : null}
    </details>
  )
}

const MAX_REPLACED = 500

function TargetBody(o: { readonly fields: Readonly<Record<string, unknown>>; readonly context: EntryContext }): VNode {
  const { fields, context } = o
  const target = stringOf(fields["targetId"]) ?? ""
  const row = context.rowOf(target)
  const of = context.session === undefined ? {} : { session: context.session }
  const replacement = fieldsOf(fields["replacement"])["content"]
  return (
    <>
      <p class="event">
        {row === undefined ? (
          <>Entry {target}</>
        ) : (
          <a href={toHash({ ...of, tab: "conversation", entry: row.id })}>
            {nameOf(row)} {row.text === "" ? row.id : `“${preview(row.text, TARGET_UNITS)}”`}
          </a>
        )}{" "}
        {targetText(fields, replacement)}
      </p>
      {replacement === undefined ? null : <Content content={replacement} />}
    </>
  )
}

const TARGET_UNITS = 60

function targetText({ type, label }: Readonly<Record<string, unknown>>, replacement: unknown): string {
  if (type === "tombstone") return "is deleted."
  if (type === "label") return typeof label === "string" ? `has the label “${label}”.` : "has no label any more."
  return replacement === undefined ? "is left out of the context." : "has this content in the context:"
}

/** Groups types by how they look. */
function kindOf({ type, role }: Row): string {
  if (type !== "message")
    return type === "compaction" || type === "branch_summary"
      ? "summary"
      : type === "custom_message"
        ? "custom"
        : "small"
  return role === "user" || role === "assistant" || role === "toolResult" || role === "system" ? role : "custom"
}

const NAMES: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Assistant",
  toolResult: "Tool result",
  system: "System",
  compaction: "Compaction",
  branch_summary: "Summary of a branch",
  custom_message: "Message of the program",
  context_edit: "Edit",
  tombstone: "Deletion",
  model_change: "Model",
  thinking_level_change: "Thinking level",
  mode_change: "Mode",
  title_change: "Title",
  label: "Label",
  metadata: "Metadata",
  usage: "Usage",
  leaf: "Branch",
  reset_boundary: "Reset of the context",
  session_init: "Start",
  file_snapshot: "Snapshot of files",
  custom: "Data of the program",
  bashExecution: "Command",
  ttsr_injection: "Rules",
}

export function nameOf({ type, role }: Pick<Row, "type" | "role">): string {
  const key = type === "message" ? (role ?? type) : type
  return Object.hasOwn(NAMES, key) ? (NAMES[key] as string) : key
}

function usageLine({ usage }: Row): string {
  const { input, output, cost } = usage ?? {}
  if (input === undefined && output === undefined)
    return cost === undefined ? "tokens unknown" : `cost ${formatCost(cost)}`
  const tokens = `${known(input)} in, ${known(output)} out`
  return cost === undefined ? tokens : `${tokens}, cost ${formatCost(cost)}`
}

function known(value: number | undefined): string {
  return value === undefined ? "unknown" : formatNumber(value)
}
