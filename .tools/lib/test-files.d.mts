export function testFiles(): string[]
export function isDeep(file: string): boolean
export function sharing(files: readonly string[]): string[]
