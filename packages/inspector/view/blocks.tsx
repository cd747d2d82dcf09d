/** The blocks of a message: text, thinking, tool calls with their results, images and files. A log may hold any value in any field. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { fieldsOf, isObject, stringOf } from "../src/model/fields.ts"
import { contentText, preview } from "../src/model/text.ts"
import { formatJson } from "./format.ts"
import { isPicture, Markdown, MAX_MARKDOWN_UNITS, Picture } from "./markdown.tsx"
import { verbatim } from "./verbatim.tsx"

/** A tool result, and whether a person asked for the entry that it is in. */
export interface ToolResult {
  readonly seq: number
  readonly message: unknown
  readonly shown: VNode
}

export type ResultOf = (callId: string) => ToolResult | undefined

/** `plain`: as it is, not as Markdown. */
export function Content(o: {
  readonly content: unknown
  readonly plain?: boolean
  readonly resultOf?: ResultOf
}): VNode {
  const { content, plain = false, resultOf } = o
  if (typeof content === "string") return <Text text={content} plain={plain} />
  if (!Array.isArray(content)) return content === undefined || content === null ? <></> : <Json value={content} />
  return (
    <>
      {content.map((block: unknown, index) => (
        <Block key={index} block={block} plain={plain} resultOf={resultOf} />
      ))}
    </>
  )
}

interface BlockProps {
  readonly block: unknown
  readonly plain: boolean
  readonly resultOf: ResultOf | undefined
}

function Block({ block, plain, resultOf }: BlockProps): VNode {
  const fields = fieldsOf(block)
  const { type, text, thinking, data, mimeType, path, filename } = fields
  if (type === "text" && typeof text === "string") return <Text text={text} plain={plain} />
  if (type === "thinking" && typeof thinking === "string")
    return (
      <details class="fold thinking">
        <summary>Thinking</summary>
        <Text text={thinking} plain={false} />
      </details>
    )
  if (type === "toolCall") return <ToolCall block={fields} resultOf={resultOf} />
  if (type === "image" && typeof data === "string" && typeof mimeType === "string")
    return isPicture(mimeType, data) ? (
      <Picture mimeType={mimeType} data={data} alt="Image in the message" />
    ) : (
      <p class="note">[image {mimeType}, not shown]</p>
    )
  if (type === "file" && typeof path === "string")
    return (
      <p class="note">
        [file {stringOf(filename) ?? path}, {stringOf(mimeType) ?? "unknown type"}]
      </p>
    )
  return <Json value={block} />
}

function ToolCall({ block, resultOf }: { readonly block: object; readonly resultOf: ResultOf | undefined }): VNode {
  const { id, name, arguments: args } = block as Readonly<Record<string, unknown>>
  const result = typeof id === "string" ? resultOf?.(id) : undefined
  const failed = fieldsOf(result?.message)["isError"] === true
  return (
    <details class={failed ? "fold call failed" : "fold call"}>
      <summary>
        <b>{typeof name === "string" ? name : "tool"}</b> <span class="args">{verbatim(argumentLine(args))}</span>
        {failed ? <span class="badge bad">failed</span> : null}
        {result === undefined ? <span class="badge">no result here</span> : null}
      </summary>
      <Arguments args={args} />
      {result?.shown}
    </details>
  )
}

/** Long texts among the arguments, such as the content of a file, keep their lines. */
function Arguments({ args }: { readonly args: unknown }): VNode {
  if (!isObject(args)) return <Json value={args} />
  return (
    <dl class="arguments">
      {Object.entries(args).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Text text={typeof value === "string" ? value : formatJson(value)} plain />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function argumentLine(args: unknown): string {
  const values = isObject(args) ? Object.values(args) : [args]
  return preview(values.map((value) => (typeof value === "string" ? value : contentText(value))).join(" · "), 100)
}

export function Json({ value }: { readonly value: unknown }): VNode {
  return <Text text={formatJson(value)} plain />
}

const FOLDED_LINES = 40
const FOLDED_UNITS = 8_000

/** A long plain text, such as the output of a tool, shows its start until it is unfolded. */
export function Text({ text, plain }: { readonly text: string; readonly plain: boolean }): VNode {
  if (!plain && text.length <= MAX_MARKDOWN_UNITS) return <Markdown text={text} />
  const lines = text.split("\n", FOLDED_LINES + 1)
  if (lines.length <= FOLDED_LINES && text.length <= FOLDED_UNITS) return <pre class="plain">{verbatim(text)}</pre>
  const start = lines
    .slice(0, FOLDED_LINES)
    .join("\n")
    .slice(0, FOLDED_UNITS)
    .replace(/[\ud800-\udbff]$/, "")
  return (
    <>
      <pre class="plain">{verbatim(start)}</pre>
      <Rest text={text.slice(start.length)} />
    </>
  )
}

/** A text of megabytes is laid out when it is unfolded. */
function Rest({ text }: { readonly text: string }): VNode {
  const [open, setOpen] = useState(false)
  return (
    <details class="fold" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>More of this text</summary>
      {open ? <pre class="plain">{verbatim(text)}</pre> : null}
    </details>
  )
}
