/**
 * What entry files use of the runners of Bun and Deno. Their full types redefine the globals of Node's, and
 * a program has room for one of them only.
 */
declare module "bun:test" {
  export function test(name: string, fn: () => void | Promise<void>, timeout?: number): void
}

declare namespace Deno {
  function test(name: string, fn: () => void | Promise<void>): void
}
