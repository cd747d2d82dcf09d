/** Makes what the page shows of a session without its entries: information, branches, context, diagnostics. */
import { toJsonText } from "@sessions/core/format"
import { type ContextMessage, type Diagnostic, estimateMessage, type Session, type SessionInfo } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { sessionBranches } from "@sessions/core/transfer"
import { messageText, preview } from "../model/text.ts"
import type { ContextView, Summary } from "../model/types.ts"
import { type Redact, redactData, redactRecord } from "../redact.ts"

/** What the session itself says, without a look at its lines. */
export type SummaryStart = Omit<Summary, "damaged" | "leaf" | "lines" | "subagents">

export async function readSummary(session: Session, redact: Redact | undefined, o: CallOptions): Promise<SummaryStart> {
  const branches = await sessionBranches(session, o)
  const diagnostics = unique(session.diagnostics)
  return {
    id: session.id,
    info: shownInfo(await session.info(o), redact),
    header: toJsonText(redact === undefined ? session.header : redactRecord(session.header, redact), 2),
    branches,
    diagnostics: shownDiagnostics(diagnostics, redact),
    redacted: redact !== undefined,
  }
}

export async function readContext(session: Session, redact: Redact | undefined, o: CallOptions): Promise<ContextView> {
  const context = await session.context(o)
  const { tokens, model, mode, thinkingLevel, systemPromptOverride, compaction } = context
  const show = redact ?? ((text: string) => text)
  const messages = context.messages.map((message) => contextRow(message, show))
  return {
    messages,
    tokens,
    promptTokens: Math.max(0, tokens - messages.reduce((sum, row) => sum + row.tokens, 0)),
    ...(systemPromptOverride === undefined ? {} : { systemPrompt: show(systemPromptOverride) }),
    ...(model === undefined ? {} : { model: show(`${model.provider}/${model.model}`) }),
    mode: show(mode),
    thinkingLevel: show(thinkingLevel),
    ...(compaction === undefined ? {} : { compaction: compaction.entryId }),
    diagnostics: shownDiagnostics(context.diagnostics, redact),
  }
}

const CONTEXT_PREVIEW_UNITS = 400

function contextRow({ entryId, kind, message }: ContextMessage, show: Redact): ContextView["messages"][number] {
  return {
    entryId,
    kind,
    role: message.role,
    // Redacted before it is cut: half of a key would not be recognized.
    text: preview(show(messageText(message)), CONTEXT_PREVIEW_UNITS),
    tokens: estimateMessage(message),
  }
}

/** The start of the first prompt is cut already, so it cannot be redacted and is left out. */
function shownInfo(info: SessionInfo, redact: Redact | undefined): SessionInfo {
  if (redact === undefined) return info
  const { firstPrompt: _, title, cwd, systemPromptOverride, parentSession, model, kind, metadata, ...rest } = info
  const optional = { title, cwd, systemPromptOverride, parentSession, model, kind }
  const shown = Object.fromEntries(
    Object.entries(optional).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, redactValues(value, redact)]],
    ),
  )
  return { ...rest, ...shown, metadata: redactData(metadata, redact) }
}

function redactValues(value: unknown, redact: Redact): unknown {
  if (typeof value !== "object" || value === null) return redactData(value, redact)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactData(item, redact)]))
}

function shownDiagnostics(diagnostics: readonly Diagnostic[], redact: Redact | undefined): readonly Diagnostic[] {
  if (redact === undefined) return diagnostics
  return diagnostics.map((diagnostic) => ({ ...diagnostic, message: redact(diagnostic.message) }))
}

/** A later report may be equal to one of the opening. */
function unique(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()]
}
