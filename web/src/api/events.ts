/** Server-sent events out of the pieces in which they come. */

export interface ServerEvent {
  name: string;
  data: string;
}

export class EventParser {
  private rest = '';

  /** The events that a piece completes. Comments are signs of life and no events. */
  push(piece: string): ServerEvent[] {
    this.rest += piece;
    const blocks = this.rest.split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      let name = 'message';
      const data: string[] = [];
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) name = line.slice(7);
        else if (line.startsWith('data: ')) data.push(line.slice(6));
      }
      return data.length === 0 ? [] : [{ name, data: data.join('\n') }];
    });
  }
}
