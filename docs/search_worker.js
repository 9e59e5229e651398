/* Browsers start no worker from a file. This one runs its script in a hidden frame instead, so that the search works
   where the documentation is read from a disk. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      const inside = frame.contentWindow;
      const answer = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      this.postMessage = (data) => waiting.push(data);
      this.terminate = () => frame.remove();
      inside.document.open();
      inside.document.write("<!doctype html><body></body>");
      inside.document.close();
      inside.postMessage = answer;
      inside.importScripts = (...urls) => Promise.all(urls.map((url) => load(inside, url)));
      load(inside, script).then(() => {
        this.postMessage = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
        waiting.forEach(this.postMessage);
      });
    }
  };

  const load = (where, url) =>
    new Promise((resolve, reject) => {
      const element = where.document.createElement("script");
      element.src = url;
      element.onload = resolve;
      element.onerror = reject;
      where.document.body.append(element);
    });
}
