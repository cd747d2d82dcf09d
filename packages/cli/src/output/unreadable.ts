/** Sessions that could not be read, as `list` and `grep` show them. */
import { type Line, styled } from "./lines.ts"

interface Unreadable {
  readonly id: string
  readonly error: unknown
}

interface UnreadableJson {
  readonly id: string
  readonly code?: string
  readonly message: string
}

export function unreadableJson({ id, error }: Unreadable): UnreadableJson {
  const { code, message }: Error & { readonly code?: unknown } =
    error instanceof Error ? error : new Error(String(error))
  return { id, ...(typeof code === "string" ? { code } : {}), message }
}

export function unreadableLine(unreadable: Unreadable): Line {
  const { id, message } = unreadableJson(unreadable)
  return [styled("red", "unreadable"), ` ${id}: ${message}`]
}
