import csv, io, sys
import torch, timm

def build(name):
    m = timm.create_model(name, num_classes=1000)
    m = m.cuda().eval().to(memory_format=torch.channels_last)
    return m

def tta(x):
    yield x
    yield x.flip(-1)
    yield torch.nn.functional.interpolate(x, scale_factor=1.25, mode='bilinear', align_corners=False)

@torch.inference_mode()
def score(models, batches, writer):
    for b, x in enumerate(batches):
        x = x.cuda(non_blocking=True).contiguous(memory_format=torch.channels_last)
        total = None
        for m in models:
            for v in tta(x):
                with torch.autocast('cuda', dtype=torch.float16):
                    p = m(v).softmax(-1)
                total = p if total is None else total + p
        conf, cls = (total / (3 * len(models))).topk(5)
        conf, cls = conf.cpu().tolist(), cls.cpu().tolist()
        for i, (c, k) in enumerate(zip(conf, cls)):
            writer.writerow([b, i, *k, *c])

def batches(n, bs):
    for i in range(n):
        size = bs if i < n - 1 else bs // 3
        yield torch.randn(size, 3, 256, 256).pin_memory()

if __name__ == '__main__':
    models = [build(n) for n in ('efficientnet_b4', 'regnety_064', 'resnext101_32x8d')]
    buf = io.StringIO()
    score(models, batches(5, 144), csv.writer(buf))
    print(len(buf.getvalue()), file=sys.stderr)
