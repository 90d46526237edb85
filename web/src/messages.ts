/** Questions by messages to a kernel, as a notebook asks them; the other end is `ExplorerWidget` in Python. */

import type { Answer, Model, Transport } from "./api";

/** What anywidget gives a view of its model in the kernel. */
export interface Kernel {
  get(name: string): any;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, heard: (...args: any[]) => void): void;
  off(event: string, heard: (...args: any[]) => void): void;
}
interface Reply { id: string; wrong: string | null; answer: Partial<Answer> }
interface Waiting { resolve: (answer: any) => void; reject: (error: Error) => void }

/** The transport, and what ends it. */
export function messages(kernel: Kernel): { transport: Transport; close: () => void } {
  const own = Math.random().toString(36).slice(2);  // a widget shown twice hears the answers to both
  const waiting = new Map<string, Waiting>();
  let asked = 0;
  const heard = ({ id, wrong, answer }: Reply) => {
    const question = waiting.get(id);
    waiting.delete(id);
    if (wrong === null) question?.resolve({ ...answer, stale: null });
    else question?.reject(new Error(wrong));
  };
  kernel.on("msg:custom", heard);
  const call = <T,>(method: string, args: Record<string, unknown>) => new Promise<T>((resolve, reject) => {
    const id = `${own}-${asked++}`;
    waiting.set(id, { resolve, reject });
    kernel.send({ id, method, arguments: args });
  });
  return {
    transport: {
      call: (_, method, args) => call(method, args),
      models: () => call<Omit<Model, "name">>("summary", {}).then((found) => [{ name: found.kind, ...found }]),
    },
    close: () => kernel.off("msg:custom", heard),
  };
}
