/** The context: the messages that a model would get, and the estimated tokens of each. */
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { ContextRow, ContextView } from "../src/model/types.ts"
import { Diagnostics } from "./diagnostics.tsx"
import { nameOf } from "./entry.tsx"
import { formatCount, formatNumber } from "./format.ts"
import { toHash } from "./route.ts"
import type { SessionData } from "./source.ts"

interface ContextProps {
  readonly data: SessionData
  readonly session: string | undefined
}

export function Context({ data, session }: ContextProps): VNode {
  const [context, setContext] = useState<ContextView | { readonly problem: string }>()
  useEffect(() => {
    let current = true
    data.context().then(
      (found) => current && setContext(found),
      (error: unknown) => current && setContext({ problem: String(error) }),
    )
    return () => {
      current = false
    }
  }, [data])
  return (
    <>
      <h2>Context</h2>
      {context === undefined ? (
        <p class="note">Reading…</p>
      ) : "problem" in context ? (
        <p class="notice">{context.problem}</p>
      ) : (
        <Messages context={context} session={session} />
      )}
    </>
  )
}

/** Messages that are shown at first, and that one press of a button adds: the newest. */
const STEP = 200

interface MessagesProps {
  readonly context: ContextView
  readonly session: string | undefined
}

function Messages({ context, session }: MessagesProps): VNode {
  const [count, setCount] = useState(STEP)
  const { messages, tokens, promptTokens, systemPrompt, model, mode, thinkingLevel, diagnostics } = context
  const left = Math.max(0, messages.length - count)
  const most = messages.reduce((most, message) => Math.max(most, message.tokens), Math.max(1, promptTokens))
  return (
    <>
      <dl class="facts-list">
        <Fact name="Tokens" value={`about ${formatNumber(tokens)}`} />
        <Fact name="Messages" value={formatNumber(messages.length)} />
        <Fact name="Model" value={model ?? "unknown"} />
        <Fact name="Thinking" value={thinkingLevel} />
        <Fact name="Mode" value={mode} />
      </dl>
      <p class="note">What a model gets when the session goes on. Tokens are estimated: four characters each.</p>
      <Shares messages={messages} total={tokens} />
      <Diagnostics diagnostics={diagnostics} session={session} />
      <ol class="context">
        {systemPrompt === undefined ? null : (
          <Item name="System prompt of the session" text={systemPrompt} tokens={promptTokens} most={most} />
        )}
        {left === 0 ? null : (
          <li class="whole">
            <button type="button" class="more" onClick={() => setCount(count + STEP)}>
              Show older messages ({formatNumber(left)} more)
            </button>
          </li>
        )}
        {messages.slice(left).map((message, index) => (
          <Item
            key={left + index}
            name={KIND_NAMES[message.kind] ?? nameOf({ type: "message", role: message.role })}
            text={message.text}
            tokens={message.tokens}
            most={most}
            href={toHash({
              ...(session === undefined ? {} : { session }),
              tab: "conversation",
              entry: message.entryId,
            })}
          />
        ))}
      </ol>
    </>
  )
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  compaction: "Compaction",
  branch_summary: "Summary of a branch",
  custom: "Message of the program",
  repair: "Added: the log has no result",
}

interface ItemProps {
  readonly name: string
  readonly text: string
  readonly tokens: number
  readonly most: number
  readonly href?: string
}

function Item({ name, text, tokens, most, href }: ItemProps): VNode {
  const content = (
    <>
      <span class="kind">{name}</span> <span class="text">{text}</span>
    </>
  )
  return (
    <li>
      <meter
        class="share"
        min={0}
        max={most}
        value={tokens}
        aria-label={`${formatCount(tokens, "token")} of the context`}
      />
      <span class="tokens">{formatNumber(tokens)}</span>
      {href === undefined ? (
        <span class="item">{content}</span>
      ) : (
        <a class="item" href={href}>
          {content}
        </a>
      )}
    </li>
  )
}

/** The shares of roles in the whole. */
function Shares({
  messages,
  total,
}: {
  readonly messages: readonly ContextRow[]
  readonly total: number
}): VNode | null {
  if (total === 0) return null
  const roles = new Map<string, number>()
  for (const { role, tokens } of messages) roles.set(role, (roles.get(role) ?? 0) + tokens)
  return (
    <ul class="shares">
      {[...roles].map(([role, tokens]) => (
        <li key={role}>
          {nameOf({ type: "message", role })}: {formatNumber(tokens)} ({Math.round((tokens / total) * 100)} %)
        </li>
      ))}
    </ul>
  )
}

export function Fact({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
