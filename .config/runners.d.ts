/**
 * What entry files use of the runners of Bun and Deno. Their full types redefine the globals of Node's, and
 * a program has room for one of them only.
 */
declare module "bun:test" {
  export const test: {
    (name: string, fn: () => void | Promise<void>, timeout?: number): void
    readonly skip: (name: string, fn: () => void | Promise<void>) => void
  }
}

declare namespace Deno {
  const test: {
    (name: string, fn: () => void | Promise<void>): void
    readonly ignore: (name: string, fn: () => void | Promise<void>) => void
  }
}
