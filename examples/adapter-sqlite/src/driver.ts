/** Texts go in and out as their UTF-8: Deno cuts a TEXT at its first NUL. */
type Value = string | number | Uint8Array | null

/** All that the adapter asks of a SQLite library: what the classes of Node, Deno and Bun have in common. */
export interface Driver {
  prepare<Row>(sql: string): Statement<Row>
  close(): void
}

interface Statement<Row> {
  all(...values: readonly Value[]): Row[]
  /** Row after row, for those that may be too large to have at once. */
  iterate(...values: readonly Value[]): Iterable<Row>
  run(...values: readonly Value[]): { readonly changes: number | bigint }
}

export async function openDriver(path: string): Promise<Driver> {
  const [module, name] = "Bun" in globalThis ? ["bun:sqlite", "Database"] : ["node:sqlite", "DatabaseSync"]
  const library = (await import(module)) as { [name: string]: new (path: string) => Driver }
  return new (library[name] as new (path: string) => Driver)(path)
}

/** The primary result code (https://sqlite.org/rescode.html): Node and Deno have it in `errcode`, Bun in `errno`. */
export function resultCode(error: unknown): number {
  const { errcode, errno } = error as { errcode?: number; errno?: number }
  return (errcode ?? errno ?? 0) & 0xff
}
