/** Calls the caller's model, with a time limit, and reads the text and the usage of its answer. */
import type { Summarize, SummarizeRequest, Usage } from "@sessions/core"
import { checkSignal, onAbort } from "@sessions/core/storage"
import { RecallError } from "../error.ts"

export interface Answer {
  readonly text: string
  /** The valid numbers of the report. */
  readonly usage?: Usage
  readonly model?: { readonly provider: string; readonly model: string }
}

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** Rejects with `extraction_failed` if the model fails or gives no text in time, and with `aborted` at the signal. */
export async function askModel(
  ask: Summarize,
  request: Omit<SummarizeRequest, "signal">,
  { timeout, signal }: { readonly timeout: number; readonly signal?: AbortSignal },
): Promise<Answer> {
  checkSignal(signal)
  const stop = new AbortController()
  const late = new RecallError("extraction_failed", `The model gave no answer within ${timeout} ms.`)
  const timer = setTimeout(() => stop.abort(late), Math.min(timeout, LONGEST_TIMEOUT))
  const off = signal === undefined ? undefined : onAbort(signal, () => stop.abort(signal.reason))
  // A model may ignore its signal, and fire it before it returns.
  const stopped = new Promise<never>((_, reject) => {
    onAbort(stop.signal, () => reject(stop.signal.reason as Error))
  })
  try {
    return readAnswer(await Promise.race([asked(ask, { ...request, signal: stop.signal }), stopped]))
  } catch (cause) {
    checkSignal(signal)
    if (cause instanceof RecallError) throw cause
    if (stop.signal.aborted) throw late
    const message = `The model failed: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new RecallError("extraction_failed", message, cause)
  } finally {
    clearTimeout(timer)
    off?.()
  }
}

/** A model that throws at once has failed as well. */
async function asked(ask: Summarize, request: SummarizeRequest): Promise<unknown> {
  return ask(request)
}

function readAnswer(answer: unknown): Answer {
  const fields = (typeof answer === "string" ? { text: answer } : (answer ?? {})) as Readonly<Record<string, unknown>>
  const { text, content, provider, model } = fields
  const said = typeof text === "string" ? text : typeof content === "string" ? content : textOf(content)
  if (said.trim() === "") throw new RecallError("extraction_failed", "The model gave no text.")
  const usage = usageOf(fields["usage"])
  const isNamed = typeof provider === "string" && typeof model === "string"
  return { text: said, ...(usage !== undefined && { usage }), ...(isNamed && { model: { provider, model } }) }
}

function textOf(content: unknown): string {
  const blocks = (Array.isArray(content) ? content : []) as readonly { type?: unknown; text?: unknown }[]
  return blocks.flatMap((block) => (block?.type === "text" ? [String(block.text ?? "")] : [])).join("\n")
}

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "inputTokens", "outputTokens"] as const

/** An invalid report must not lose the facts that were paid for. */
function usageOf(report: unknown): Usage | undefined {
  if (typeof report !== "object" || report === null) return undefined
  const { cost, ...fields } = report as Readonly<Record<string, unknown>>
  const total = typeof cost === "object" && cost !== null ? (cost as { total?: unknown }).total : cost
  const numbers = [...COUNTS.map((name) => [name, fields[name]] as const), ["cost", total] as const]
  const usage = Object.fromEntries(numbers.filter(([, value]) => Number.isFinite(value))) as Usage
  return Object.keys(usage).length === 0 ? undefined : usage
}
