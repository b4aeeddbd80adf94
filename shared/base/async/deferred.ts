/** A promise that is settled from outside (Promise.withResolvers, which Node 20 lacks). */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => {};
  reject: (error: Error) => void = () => {};

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Who waits sees a rejection; when nobody does it must not end the process.
    this.promise.catch(() => {});
  }
}
