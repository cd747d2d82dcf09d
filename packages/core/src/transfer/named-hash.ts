/** The hash that a file snapshot or the backup of a migration refers to, with or without `sha256:`; undefined for anything else. */
export function parseHash(ref: unknown): string | undefined {
  return typeof ref === "string" ? /^(?:sha256:)?([0-9a-f]{64})$/.exec(ref)?.[1] : undefined
}
